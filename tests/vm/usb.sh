# The guest's part: a simulated board on USB, made by the real kernel of /dev/uhid, and the daemon at its /dev/hidrawN. Twice its
# cable is pulled: once it is in again before the next move, once the hand moves meanwhile.
set -u
# Tries a command until it succeeds, for at most a minute.
await() {
  for _ in $(seq 600); do
    "$@" && return
    usleep 100000
  done
  echo "in vain: $*"
  return 1
}
# Whether this many lines of a log match.
lines() { [ "$(grep -c "$2" "$3")" -ge "$1" ]; }
answered() { lines "$1" 'the board answers' /daemon.log; }
# shellcheck disable=SC2329 # await calls it
executed() { lines "$1" ' executed$' /daemon.log; }
# shellcheck disable=SC2329 # await calls it
lost() { lines "$1" 'no link: the link broke' /daemon.log; }
pull() {
  echo "the cable is pulled before move $1"
  echo unplug >&3
}
# White's moves, each when the program's answer to the last one stands on the board.
hand() {
  await lines 1 'White to move' /daemon.log || return
  # shellcheck disable=SC2046 # words, each a move
  set -- $(cat /neo.uci)
  move=1
  while [ $# -gt 0 ]; do
    case $move in
      4)
        pull "$move"
        await lost 1 || return
        echo plug >&3
        await answered 2 || return
        ;;
      8)
        pull "$move"
        await lost 2 || return
        ;;
    esac
    echo "$1" >&3
    if [ "$move" = 8 ]; then
      await lines 1 "made $1" /simulated.log || return
      echo plug >&3
    fi
    shift
    # White gives mate.
    [ $# -gt 0 ] || return
    await executed "$move" || return
    move=$((move + 1))
    shift
  done
}

boardbridge run --config /board.toml > /daemon.log 2>&1 &
daemon=$!
await lines 1 'is plugged in: is it switched on' /daemon.log || cat /daemon.log
mkfifo /orders
# Open for as long as this runs, or the board would leave after the last order.
exec 3<> /orders
boardbridge simulate chessnut-air --usb --hand-delay 200ms < /orders > /simulated.log 2>&1 &
simulated=$!
await answered 1 || tail -n 20 /daemon.log /simulated.log
# A user who may not open it is told what to do.
su -s /bin/sh messagebus -c 'boardbridge check --config /board.toml' > /checked 2>&1
hand > /hand.log 2>&1 &
# At once: when the time is up, the script does not come to its end.
tail -f /daemon.log /simulated.log /hand.log &
ready
boardbridge scan > /scanned 2>&1
kill "$daemon"
wait "$daemon"
status=$?
kill "$simulated" 2> /dev/null
grep -E 'fault|refused|lost ' /simulated.log && status=1
answered 3 || {
  echo 'the link was not lost and made again twice'
  status=1
}
grep -q '60-boardbridge.rules' /checked || {
  cat /checked
  status=1
}
grep -q '^hid = {}' /scanned || {
  cat /scanned
  status=1
}
# What was played is kept: one game, without the seconds and the numbers that follow them.
kept=$(sed '/^\[/d; s/{[^}]*}//g' /games/*.pgn | tr -s '\n ' ' ' | sed 's/[0-9]*\.\.\. //g; s/^ //; s/ $//')
if [ "$kept" != "$(cat /neo.movetext)" ]; then
  echo "kept: $kept"
  status=1
fi
exit "$status"
