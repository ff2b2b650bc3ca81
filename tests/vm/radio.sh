# The guest's part: the board of the WhitePawn app on the air by hci1, and a phone on hci0. Radios for LE alone carry
# Bluetooth LE, those for Bluetooth Classic the serial port: Linux 6.1 crashes when the latter end an LE link
# (list_del corruption in hci_chan_del).
set -u
bluez() {
  method=$1
  shift
  dbus-send --system --print-reply --dest=org.bluez /org/bluez/hci1 "org.freedesktop.DBus.Properties.$method" \
    string:org.bluez.Adapter1 "$@"
}
radio board hci1 > /board.log 2>&1 &
board=$!
until grep -q 'is advertised by' /board.log && grep -q 'is a serial port' /board.log; do usleep 100000; done

if grep -q -e -L /radios; then
  radio phone hci0 > /phone.log 2>&1
else
  # What a person does to have a phone paired.
  bluez Set string:Discoverable variant:boolean:true > /dev/null
  address=$(bluez Get string:Address | sed -n 's/.*"\(.*\)"/\1/p')
  # The first channel is free. The second time it is paired already.
  radio serial hci0 "$address" 1 > /phone.log 2>&1 && radio serial hci0 "$address" 1 >> /phone.log 2>&1
fi
status=$?

kill "$board"
wait "$board" || status=1
echo '== the board'
tail -n 40 /board.log
echo '== the phone'
tail -n 40 /phone.log
exit "$status"
