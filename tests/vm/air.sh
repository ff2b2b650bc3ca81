# The guest's part: a simulated board on the air by hci1, the daemon on hci0. Twice the board loses its link: once it is
# there again before the next move, once the hand moves meanwhile. /board.toml is the daemon's configuration; its line
# "# simulate:" says which board is simulated.
#
# A virtual radio is heard only at the moment when it begins to advertise, or the other one to scan. The latter Linux may
# miss, and then hears nothing for ten seconds: so the daemon looks for the board before it comes on the air.
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
bluez() {
  path=$1
  shift
  dbus-send --system --print-reply --dest=org.bluez "/org/bluez/$path" "$@"
}
hci0() { bluez hci0 org.freedesktop.DBus.Properties.Get string:org.bluez.Adapter1 "string:$1"; }
# shellcheck disable=SC2329 # await calls it
scans() { hci0 Discovering | grep -q true; }
# Whether this many lines of a log match.
lines() { [ "$(grep -c "$2" "$3")" -ge "$1" ]; }
answered() { lines "$1" 'the board answers' /daemon.log; }
# shellcheck disable=SC2329 # await calls it
executed() { lines "$1" ' executed$' /daemon.log; }
drop() {
  central=$(hci0 Address | sed -n 's/.*"\(.*\)"/\1/p' | tr : _)
  bluez "hci1/dev_$central" org.bluez.Device1.Disconnect > /dev/null && echo "the link is ended before move $1"
}
# White's moves, each when the daemon has seen the answer to the last one on the board.
hand() {
  await lines 1 'White to move' /daemon.log || return
  # shellcheck disable=SC2046 # words, each a move
  set -- $(cat /neo.uci)
  move=1
  while [ $# -gt 0 ]; do
    case $move in
      4)
        drop "$move" && await answered 2 || return
        ;;
      8)
        drop "$move" || return
        ;;
    esac
    echo "$1" >&3
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
until nc -w1 127.0.0.1 9670 < /dev/null; do usleep 200000; done
await scans || echo 'hci0 never scans'
mkfifo /orders
# Open for as long as this runs, or the board would leave after the last order.
exec 3<> /orders
# shellcheck disable=SC2046 # words, each an argument
boardbridge simulate $(sed -n 's/^# simulate: //p' /board.toml) --adapter hci1 < /orders > /simulated.log 2>&1 &
simulated=$!
hand > /hand.log 2>&1 &
# At once: when the time is up, the script does not come to its end.
tail -f /daemon.log /simulated.log /hand.log &
ready
kill "$daemon"
wait "$daemon"
status=$?
kill "$simulated" 2> /dev/null
grep -E 'fault|refused' /simulated.log && status=1
answered 3 || {
  echo 'the link was not lost and made again twice'
  status=1
}
# What was played is kept: one game, without the seconds and the numbers that follow them.
kept=$(sed '/^\[/d; s/{[^}]*}//g' /games/*.pgn | tr -s '\n ' ' ' | sed 's/[0-9]*\.\.\. //g; s/^ //; s/ $//')
if [ "$kept" != "$(cat /neo.movetext)" ]; then
  echo "kept: $kept"
  status=1
fi
exit "$status"
