# The guest's part: a simulated Neo on the air by hci1, the daemon on hci0. No file names the board: it is found here, and added on the
# host, by a press on the page.
#
# A virtual radio is heard only at the moment when it begins to advertise, or the other one to scan. The latter Linux may
# miss, and then hears nothing for ten seconds: so somebody looks for a board before it comes on the air.
set -u
boardbridge run --config /neo.toml > /daemon.log 2>&1 &
daemon=$!
until nc -w1 127.0.0.1 9670 < /dev/null; do usleep 200000; done
page=http://127.0.0.1:9660
found() { wget -q -O - "$page/api/v1/found"; }
found
timeout 60 sh -c 'until dbus-send --system --print-reply --dest=org.bluez /org/bluez/hci0 org.freedesktop.DBus.Properties.Get \
  string:org.bluez.Adapter1 string:Discovering | grep -q true; do usleep 100000; done' || echo 'hci0 never scans'
boardbridge simulate miko-neo --adapter hci1 --speed 8 --hand-delay 200ms --game /neo.uci --plays white > /simulated.log 2>&1 &
simulated=$!
for _ in $(seq 60); do
  found | grep -q '"kinds":\["miko-neo"\]' && break
  sleep 1
done
ready
kill "$daemon"
wait "$daemon"
status=$?
kill "$simulated" 2> /dev/null
grep -E 'fault|refused|astray' /simulated.log && status=1
# What was played is kept: one game, without the seconds and the numbers that follow them.
kept=$(sed '/^\[/d; s/{[^}]*}//g' /games/*.pgn | tr -s '\n ' ' ' | sed 's/[0-9]*\.\.\. //g; s/^ //; s/ $//')
if [ "$kept" != "$(cat /neo.movetext)" ]; then
  echo "kept: $kept"
  status=1
fi
echo '== the daemon'
tail -n 40 /daemon.log
echo '== the simulated Neo'
tail -n 40 /simulated.log
exit "$status"
