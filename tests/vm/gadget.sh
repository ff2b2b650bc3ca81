# The guest's part: the real kernel makes a serial port of its USB device port, which is plugged into the same machine. What
# the phone says comes out at the board's end, and the reverse.
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

# The gadget's script says this word, and ends with this status.
says() {
  status=$1 word=$2
  shift 2
  said=$(sh /boardbridge-gadget "$@" 2>&1)
  is=$?
  echo "$* -> $is: $said"
  [ "$is" = "$status" ] || wrong "status $status was to come"
  case $said in *"$word"*) ;; *) wrong "\`$word\` was to come" ;; esac
}

attribute() {
  [ "$(cat "$usb/$1")" = "$2" ] || wrong "$1 is $(cat "$usb/$1"), and not $2"
}

echo 0123456789abcdef0123456789abcdef > /etc/machine-id
export GADGET_WAIT=1

says 1 'modprobe libcomposite' start
while read -r module; do
  case $module in */dummy_hcd.ko) says 1 'dtoverlay=dwc2' start ;; esac
  insmod "$module" || wrong "without $module"
done < /gadget-modules

says 0 'ttyGS0 is there' start
says 0 'already' start
await test -c /dev/ttyGS0
await test -c /dev/ttyACM0
says 0 'has it in use' status
grep ttyGS /proc/devices || wrong 'char-ttyGS is no device class: the unit may not open the port'
usb=$(dirname "$(readlink -f /sys/class/tty/ttyACM0/device)")
attribute idVendor 1d6b
attribute idProduct 0104
attribute product 'BoardBridge chess board'
attribute bMaxPower 500mA
[ "$(cat "$usb/serial" | wc -c)" = 17 ] || wrong "the serial number is $(cat "$usb/serial")"

# The host hangs its port up once more when the other end has just been closed: then it has to be opened again.
phone_opens() {
  for _ in $(seq 50); do
    exec 4<> /dev/ttyACM0
    stty raw -echo <&4 2> /dev/null && return
    sleep 0.2
  done
  wrong 'the phone cannot open its end'
}

echo 'the board opens its end, then the phone'
stty -F /dev/ttyGS0 raw -echo
cat /dev/ttyGS0 > /heard-by-the-board &
board=$!
# A port that nobody has open loses what comes meanwhile: the phone opens its end once, and keeps it open.
phone_opens
cat <&4 > /heard-by-the-phone &
phone=$!
printf 'H0010023\n' >&4
await grep -qx H0010023 /heard-by-the-board
printf 'H101     1.2\n' > /dev/ttyGS0
await grep -qx 'H101     1.2' /heard-by-the-phone
for _ in $(seq 200); do printf 'MA e2e4\n' >&4; printf 'MB e7e5\n' > /dev/ttyGS0; done
lines() { [ "$(grep -cx "$1" "$2")" = 200 ]; }
await lines 'MA e2e4' /heard-by-the-board
await lines 'MB e7e5' /heard-by-the-phone
[ "$(wc -l < /heard-by-the-board)" = 201 ] || wrong 'something came back to the board'
[ "$(wc -l < /heard-by-the-phone)" = 201 ] || wrong 'something came back to the phone'

echo 'it is taken down while both ends are open'
exec 4>&-
says 0 'taken down' stop
gone() { [ ! -e "$1" ]; }
await gone /dev/ttyACM0
await gone /dev/ttyGS0
[ -z "$(ls /sys/kernel/config/usb_gadget)" ] || wrong 'something is left'
wait "$board" "$phone"
says 0 'not there' stop

echo 'and built once more, while another gadget wants the port'
mkdir /sys/kernel/config/usb_gadget/other /sys/kernel/config/usb_gadget/other/configs/c.1 \
  /sys/kernel/config/usb_gadget/other/functions/acm.x
ln -s /sys/kernel/config/usb_gadget/other/functions/acm.x /sys/kernel/config/usb_gadget/other/configs/c.1
echo dummy_udc.0 > /sys/kernel/config/usb_gadget/other/UDC
says 1 'the gadget other' start
[ ! -e /sys/kernel/config/usb_gadget/boardbridge ] || wrong 'something is left'
echo > /sys/kernel/config/usb_gadget/other/UDC
says 0 'ttyGS1 is there' start
says 0 'taken down' stop
rm /sys/kernel/config/usb_gadget/other/configs/c.1/acm.x
rmdir /sys/kernel/config/usb_gadget/other/functions/acm.x /sys/kernel/config/usb_gadget/other/configs/c.1 \
  /sys/kernel/config/usb_gadget/other

echo 'a game for the phone, on a simulated Citrine'
says 0 'ttyGS0 is there' start
mkdir /dev/pts
mount -t devpts devpts /dev/pts
mkfifo /hand
boardbridge simulate novag-citrine --link /tmp/citrine --speed 8 --hand-delay 200ms < /hand > /var/log/simulated 2>&1 &
exec 3> /hand
await test -e /tmp/citrine
boardbridge run --config /gadget.toml > /var/log/daemon 2>&1 &
await grep -q 'open for the app' /var/log/daemon
await grep -q 'the board answers' /var/log/daemon
await test -c /dev/ttyACM0
phone_opens
cat <&4 > /heard-by-the-phone &
printf 'H0010023\n' >&4
await grep -q '^H101........citrine$' /heard-by-the-phone
printf 'NG3Y\n' >&4
await grep -q 'White to move on the board' /var/log/daemon
echo e2e4 >&3
await grep -qx 'MB e2e4' /heard-by-the-phone
printf 'MA e7e5\n' >&4
await grep -qx 'executed e7e5' /var/log/simulated
echo g1f3 >&3
await grep -qx 'MB g1f3' /heard-by-the-phone
[ "$(wc -l < /heard-by-the-phone)" = 3 ] || wrong 'the phone heard more than that'
echo 'the gadget works'
