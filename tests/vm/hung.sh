# The guest's part: a board with a USB port of its own hangs, and accepts no more data. The kernel gives it 30 s for its last
# ones when its port is closed. That holds up neither another board's app nor the end of the daemon, and the port is
# opened again once it is free.
set -u

wrong() {
  echo "WRONG: $*"
  exit 1
}

# Tries a command every tenth of a second until it succeeds, at most 100 times.
await() {
  for _ in $(seq 100); do
    "$@" && return
    usleep 100000
  done
  wrong "in vain: $*"
}

# Hundredths of a second.
now() { sed 's/\.//; s/ .*//' /proc/uptime; }

# The other board's app is answered within two seconds, which a slow machine keeps: it waited 30 s where the daemon did.
worst=0
ask() {
  before=$(now)
  printf 'H0010023\n' >&4
  timeout 2 head -n 1 <&5 > /answer
  grep -q '^H101' /answer || wrong "no H1 within 2 s, after $worst hundredths of a second at most before"
  took=$(($(now) - before))
  [ "$took" -gt "$worst" ] && worst=$took
  asked=$((asked + 1))
}

plug() {
  sh /boardbridge-gadget start || wrong 'no gadget'
  await test -c /dev/ttyACM0
}

said() { [ "$(grep -c "$1" /var/log/daemon)" = "$2" ]; }

export GADGET_WAIT=1
while read -r module; do insmod "$module" || wrong "without $module"; done < /gadget-modules
plug

echo 'nobody reads at the board, and what the kernel keeps for it is full'
cat /dev/zero > /dev/ttyACM0 &
full=$!
boardbridge run --config /hung.toml > /var/log/daemon 2>&1 &
daemon=$!
await said 'connected transport=/dev/ttyACM0' 1
kill $full
mkfifo /to /from
nc 127.0.0.1 9690 < /to > /from &
exec 4> /to 5< /from
asked=0
# The link ends after 10 s in which the board took nothing. 3 s later the port is wanted again, and is still closing.
until=$(($(now) + 2500))
until said 'still closing' 1; do
  [ "$(now)" -lt "$until" ] || wrong 'the port was not being closed'
  ask
  usleep 50000
done
said 'the link accepts no more data' 1 || wrong 'the link did not end'
grep -q 'another program' /var/log/daemon && wrong 'our own port is said to be in use by another program'
echo "asked $asked times; the slowest answer took $worst hundredths of a second"

echo 'it is unplugged for a moment'
sh /boardbridge-gadget stop || wrong 'the gadget stays'
gone() { [ ! -e "$1" ]; }
await gone /dev/ttyACM0
plug
await said 'connected transport=/dev/ttyACM0' 2
ask

echo 'the daemon stops, while the board takes nothing'
cat /dev/zero > /dev/ttyACM0 &
full=$!
usleep 1000000
kill $full
before=$(now)
kill $daemon
wait $daemon || wrong 'the daemon failed'
took=$(($(now) - before))
echo "it stopped within $took hundredths of a second"
[ "$took" -lt 1000 ] || wrong 'it waited for the board'
[ "$took" -gt 100 ] || wrong 'the board took everything, and nothing is proved'
grep -v DEBUG /var/log/daemon
