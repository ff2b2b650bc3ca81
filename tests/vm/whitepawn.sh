# The guest's part: a Citrine's BoardBridge is a board on the air by hci1. First another BoardBridge finds it by hci0 and a
# chess program plays the first moves of the game on it, then the simulated app plays the whole one.
#
# A virtual radio is heard only at the moment when it begins to advertise, or the other one to scan. The latter Linux may
# miss, and then hears nothing for ten seconds: so whoever looks for the board does so before it comes on the air.
set -u
trap '' PIPE
# Whoever does not come in this many seconds does not come.
patience=60
# The simulated Citrine is a pseudo-terminal.
mkdir -p /dev/pts
mount -t devpts devpts /dev/pts
status=0
fail() {
  echo "$*"
  status=1
}
# Whether a line like this appears in a file in time.
comes() {
  # shellcheck disable=SC2016 # for the inner shell
  timeout "$patience" sh -c 'until grep -q -e "$1" "$2"; do usleep 100000; done' - "$1" "$2" || fail "never in $2: $1"
}
# Waits for hci0 to scan.
scans() {
  # shellcheck disable=SC2016 # for the inner shell
  timeout "$patience" sh -c 'until dbus-send --system --print-reply --dest=org.bluez /org/bluez/hci0 \
    org.freedesktop.DBus.Properties.Get string:org.bluez.Adapter1 string:Discovering | grep -q true; do usleep 100000; done' ||
    fail 'hci0 never scans'
}

boardbridge simulate novag-citrine --link /citrine --speed 10 --hand-delay 20ms --game /game.uci --plays white > /board.log 2>&1 &
board=$!
comes '^plugged' /board.log
boardbridge run --config /whitepawn.far.toml > /far.log 2>&1 &
far=$!
scans
boardbridge run --config /whitepawn.toml > /near.log 2>&1 &
near=$!
comes 'is advertised by' /near.log
comes 'the board answers' /near.log
comes 'the board answers' /far.log
mkfifo /program
timeout "$patience" boardbridge uci --connect 127.0.0.1:9671 < /program > /program.log 2>&1 &
exec 3> /program
moves=
# shellcheck disable=SC2046 # words, each a move
set -- $(cat /game.uci)
echo uci >&3
comes uciok /program.log
while [ $# -gt 24 ] && [ "$status" = 0 ]; do
  printf 'position startpos%s\ngo movetime 30000\n' "${moves:+ moves$moves}" >&3
  comes "^bestmove $1" /program.log
  moves="$moves $1 $2"
  shift 2
done
# It gives up by itself sooner.
timeout 150 boardbridge simulate whitepawn-app --ble --adapter hci0 --game-type 3 --game /game.uci --plays black \
  --hand-delay 10ms < /dev/null > /phone.log 2>&1 &
phone=$!
scans
# The chess program's input ends.
exec 3>&-
kill "$far"
wait "$far" || fail 'the far BoardBridge failed'
comes 'left:' /near.log
wait "$phone" || fail 'the phone failed'
grep -qx 'done' /phone.log || fail 'the phone did not play to the end'
comes 'the game is over' /near.log
grep -E 'fault|refused|astray|jammed|gave-up|failed' /phone.log /board.log && status=1
kill "$near"
wait "$near" || fail 'the BoardBridge failed'
kill "$board" 2> /dev/null
# What was played is kept, here without the seconds and the numbers that follow them.
for game in /games/*_citrine_*.pgn /games/*_far_*.pgn; do
  sed '/^\[/d; s/{[^}]*}//g' "$game" | tr -s '\n ' ' ' | sed 's/[0-9]*\.\.\. //g; s/^ //; s/ $//'
  echo
done > /kept
diff /game.movetext /kept || fail 'the games kept are not those played'
for log in near far program phone board; do
  echo "== $log"
  tail -n 40 "/$log.log"
done
exit "$status"
