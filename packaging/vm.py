#!/usr/bin/env python3
"""The package in a virtual machine with systemd: installed, played on, rebooted, played on, also by Stockfish, installed again,
purged.

The machine is a Debian 12 (QEMU, software emulation), made by mmdebstrap as root and kept in target/vm-systemd. The boards are simulated
on this machine, at the other end of the guest's serial ports: like real ones, they stay on while the guest reboots. The chess program is
on this machine too, and plays over TCP with a Citrine. At a board of the home-made kind, Stockfish is the opponent of a hand that moves at
random; it runs in the guest, in the service. Usage: packaging/vm.py PACKAGE.deb [PHONE…]

The first game is that of somebody who edits no file: another Citrine is plugged in at an adapter on USB, and added by a press; a press
starts Stockfish. It goes on when the service starts again, when the board is plugged in as another tty, and when the guest reboots. Who
presses is a browser on this machine, which is a phone to the guest, if one is named: the command before `ADDRESS FOLDER CODE BOARD`, e.g.
`python3 tests/page/packaged.py`. Otherwise the guest asks the API for it.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent
CACHE = REPOSITORY / "target/vm-systemd"
# The cloud kernel has no USB.
INCLUDE = "systemd-sysv,dbus,udev,bluez,linux-image-amd64,initramfs-tools,zstd,stockfish"
# Seconds from the plug to the engine's first move, also in an emulated machine.
FIRST_MOVE = 60
# The adapter of the board that is plugged in.
ADAPTER = "usb-serial,bus=usb.0,chardev=plug,serial=0042"
# Seconds from one start of the machine to its end: five minutes with a processor of its own, and the gate builds beside it.
PATIENCE = 2400
# The board is pulled, and plugged in after another adapter.
REPLUG = {
    "PULL": "device_del first",
    "OTHER": "device_add usb-serial,bus=usb.0,chardev=other,serial=0007,id=other",
    "REPLUG": f"device_add {ADAPTER},id=second",
}
# Of the first game of a program: what is played before the reboot, and after it.
BEFORE, AFTER = 6, 6

# The guest's part, once at each boot. Each word after VM: is one for the host, which answers with a line when it is done.
GUEST = r"""#!/bin/sh
set -u
say() { echo "VM:$*" > /dev/ttyS0; }
fail() {
  journalctl --no-pager -b -u boardbridge -n 40 > /dev/ttyS0
  say "FAILED $*"
  systemctl poweroff
  exit 1
}
# Open before it says anything: an answer to a closed terminal is lost.
host() { { echo "VM:$1" >&8; read -r _ <&8; } 8<> /dev/ttyS0; }
# Runs the rest while programs connect all the time: not one may be refused.
without_a_closed_door() {
  rm -f refused; touch knocking
  while [ -e knocking ]; do bash -c ': 3<> /dev/tcp/127.0.0.1/9670' 2> /dev/null || echo refused >> refused; done &
  "$@" || fail "$*"
  rm knocking; wait
  [ ! -e refused ] || fail "$(wc -l < refused) programs met a closed door: $*"
}
restarts() { systemctl restart boardbridge; }
is_killed() {
  before=$(systemctl show -p MainPID --value boardbridge)
  systemctl kill -s KILL boardbridge
  for _ in $(seq 240); do
    sleep 1
    now=$(systemctl show -p MainPID --value boardbridge)
    [ "$now" = "$before" ] || [ "$now" = 0 ] || { active 'after it was killed'; return 0; }
  done
  return 1
}
active() {
  for _ in $(seq 240); do
    systemctl is-active --quiet boardbridge && return
    sleep 1
  done
  fail "the service is not running: $1"
}
# A whole game against Stockfish, within the limits of the service; then Stockfish with less memory than it needs.
group=/sys/fs/cgroup/system.slice/boardbridge.service
main_pid() { systemctl show -p MainPID --value boardbridge; }
is() { [ "$(cat "$group/$1")" = "$2" ] || fail "$1 is $(cat "$group/$1"), not $2"; }
stockfish_begins() {
  printf '[boards.fish]\nkind = "swpp"\nserial = { port = "/dev/ttyS2" }\n' >> $config
  printf '[[opponent]]\nboard = "fish"\nengine = "/usr/games/stockfish"\ngo = "movetime 100"\n' >> $config
  boardbridge check > /dev/ttyS0
  boardbridge check | grep -q 'fish .*the engine' && fail 'check finds something wrong with the engine'
  systemctl reload boardbridge || fail 'reload with an opponent'
}
stockfish_ends() {
  for _ in $(seq 900); do
    # The file is written when the game has ended; with none, `xargs -r` succeeds.
    grep -l 'Black "Stockfish' /var/lib/boardbridge/games/*.pgn 2> /dev/null | xargs -r grep -hE '^.Result "(1-0|0-1|1/2-1/2)"' > result
    [ -s result ] && break
    sleep 1
  done
  [ -s result ] || fail 'Stockfish has not played a whole game'
  say "Stockfish has played: $(cat result), $(cat $group/engine-fish/memory.peak) bytes"
  is memory.oom.group 0
  is daemon/memory.max $((80 * 1024 * 1024))
  is daemon/cgroup.procs "$(main_pid)"
  is engine-fish/memory.max $((512 * 1024 * 1024))
  [ "$(cat $group/engine-fish/memory.peak)" -gt $((80 * 1024 * 1024)) ] || fail 'Stockfish is not in its control group'
  journalctl --no-pager -b -u boardbridge | grep -q 'started again' && fail 'Stockfish was started again'
  before=$(main_pid)
  sed -e '$a memory = "64M"' -i $config
  systemctl reload boardbridge || fail 'reload with less memory'
  for _ in $(seq 240); do
    journalctl --no-pager -b -u boardbridge | grep -q 'ended the engine for its memory' && break
    sleep 1
  done
  journalctl --no-pager -b -u boardbridge | grep 'ended the engine for its memory' > /dev/ttyS0 || fail 'it does not say that memory was short'
  [ "$(main_pid)" = "$before" ] || fail 'the daemon has ended with its engine'
  sed -e '$d' -i $config
  systemctl reload boardbridge || fail 'reload with the usual memory'
}
# A board is plugged in, Play is pressed, the hand moves: Stockfish answers, and nothing was edited.
ask() {
  bash -c 'exec 3<> /dev/tcp/127.0.0.1/9660
    printf "%s /api/v1/%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %s\r\nConnection: close\r\n\r\n%s" \
      "$1" "$2" "${#3}" "$3" >&3
    cat <&3' ask "$@"
}
shows() {
  for _ in $(seq 120); do
    timeout 2 boardbridge watch 2> /dev/null | grep -aq -- "$1" && return
  done
  fail "it does not show: $1"
}
# The moves on the board that was added, once there are so many.
game() { ask GET boards/first '' | grep -ao '"game":"[^"]*"' | cut -d '"' -f 4; }
has_plies() {
  for _ in $(seq 240); do
    [ "$(game | wc -w)" = "$(($1 + 2))" ] && return
    sleep 0.5
  done
  fail "there are not $1 plies: $(game)"
}
# The hand makes this move, the engine answers: so many plies then.
answers() {
  shows 'with  *the engine.*waiting for a move'
  host "HAND $1"
  has_plies "$2"
}
is_free() { [ ! -e "$1" ]; }
# Waits until this is so.
until_it() {
  for _ in $(seq 240); do
    "$@" && return
    sleep 0.5
  done
  fail "it never was: $*"
}
has_moved() { [ -e "$(tty_of_board)" ] && [ "$(tty_of_board)" != "$was" ]; }
tty_of_board() { readlink -f /dev/serial/by-id/*_0042-*; }
presses() {
  for _ in $(seq 120); do
    id=$(ask GET found '' | grep -ao '"id":"[0-9a-f]*"' | head -n 1 | cut -d '"' -f 4)
    [ -n "$id" ] && break
    sleep 1
  done
  ask POST "found/$id/add" '{"name": "first"}' | grep -q ' 200 ' || fail 'Add'
  ask POST boards/first/opponent '{"engine": "stockfish", "elo": 1500, "hand": "white", "go": "movetime 300"}' | grep -q ' 200 ' || fail 'Play'
}
first_game() {
  host PLUG
  begun=$(date +%s)
  if PHONE; then
    say "CODE $(boardbridge pair | sed -n 's/.*the code  //p' | tr -d ' ')"
  else
    presses
  fi
  shows '^first  *up'
  answers e2e4 2
  say "from the plug to the engine's first move: $(($(date +%s) - begun)) s"
  [ $(($(date +%s) - begun)) -lt SOON ] || fail 'the first move took too long'
  cmp $config packaged.toml || fail 'the configuration was edited'
  before=$(game)
  restarts
  shows '^first  *up'
  [ "$(game)" = "$before" ] || fail "after a restart: $(game), and not $before"
  was=$(tty_of_board)
  host PULL
  until_it is_free "$was"
  # Another adapter has its tty then.
  host OTHER
  until_it [ -e "$was" ]
  host REPLUG
  until_it has_moved
  say "it was $was, and is $(tty_of_board)"
  shows '^first  *up'
  [ "$(game)" = "$before" ] || fail "as another tty: $(game), and not $before"
  answers g1f3 4
  [ "$(ask GET boards '' | grep -ao '"board":' | wc -l)" = 1 ] || fail 'it is another board'
  cmp $config packaged.toml || fail 'the configuration was edited'
  game > first.game
}
first_game_goes_on() {
  shows '^first  *up'
  [ "$(game)" = "$(cat first.game)" ] || fail "after the reboot: $(game), and not $(cat first.game)"
  PHONE && say AGAIN
  answers f1e2 6
  host SEEN
  boardbridge remove first > /dev/ttyS0 || fail 'remove'
}
config=/etc/boardbridge/boardbridge.toml
cd /vm
if [ ! -e installed ]; then
  apt-get install -y --no-install-recommends ./boardbridge.deb > apt.log 2>&1 || { cat apt.log > /dev/ttyS0; fail 'apt install'; }
  touch installed
  active 'after the installation'
  journalctl --no-pager -b -u boardbridge | grep -q 'no board is there yet: plug it in' || fail 'it does not say what to do'
  systemctl is-enabled --quiet boardbridge-gadget && fail 'the gadget is enabled'
  getent group bluetooth > /dev/null && { systemctl show -p SupplementaryGroups boardbridge | grep -q bluetooth || fail 'no group bluetooth'; }
  cp $config packaged.toml
  first_game
  # The board, and that programs on other machines may come: the line under [uci].
  sed -i -e 's|^# listen = "127.0.0.1:9670"|listen = "0.0.0.0:9670"|' $config
  printf '[boards.citrine]\nkind = "novag-citrine"\nserial = { port = "/dev/ttyS1" }\n' >> $config
  boardbridge check > /dev/ttyS0 || fail 'the configuration'
  systemctl restart boardbridge || fail restart
  active 'with the board'
  host PLAY
  sync
  say REBOOT
  systemctl reboot
  exit
fi
active 'after the reboot'
# Before any program is there: the game of before.
timeout 600 sh -c 'while ! timeout 60 boardbridge watch --json | grep -q "GAME"; do :; done' || fail 'the game of before the reboot is not known'
first_game_goes_on
if boardbridge check | grep -q '^  state '; then
  ls /var/lib/boardbridge | grep -qvx games || fail 'there is a state directory, and nothing in it'
fi
stockfish_begins
host PLAY
stockfish_ends
without_a_closed_door restarts
without_a_closed_door is_killed
# The socket unit as docs/service.md has it.
systemctl stop boardbridge
bash -c ': 3<> /dev/tcp/127.0.0.1/9670' 2> /dev/null && fail 'a stopped service has an open door'
cp /usr/share/doc/boardbridge/examples/boardbridge.socket /etc/systemd/system/ || fail 'the example'
mkdir /etc/systemd/system/boardbridge.socket.d
printf '[Socket]\nListenStream=\nListenStream=0.0.0.0:9670\n' > /etc/systemd/system/boardbridge.socket.d/override.conf
systemctl daemon-reload
systemctl enable --now boardbridge.socket 2> /dev/null || fail 'the socket'
bash -c ': 3<> /dev/tcp/127.0.0.1/9670' 2> /dev/null || fail 'the socket is not open'
active 'after a program has connected to the socket'
journalctl --no-pager -b -u boardbridge | grep -q 'boardbridge.socket has opened the port' || fail 'it does not use the socket'
without_a_closed_door restarts
systemctl disable --now boardbridge.socket 2> /dev/null || fail 'the socket again'
rm -r /etc/systemd/system/boardbridge.socket /etc/systemd/system/boardbridge.socket.d
systemctl daemon-reload
systemctl restart boardbridge || fail 'restart without the socket'
active 'without the socket'
journalctl --no-pager -b -u boardbridge | grep -q 'the port for uci has stayed open' || fail 'the port was not kept'
ls /var/lib/boardbridge/games/*.pgn > /dev/ttyS0 || fail 'the game is not kept'
before=$(systemctl show -p MainPID --value boardbridge)
apt-get install -y --reinstall --no-install-recommends ./boardbridge.deb > apt.log 2>&1 || { cat apt.log > /dev/ttyS0; fail 'apt install again'; }
active 'after it was installed again'
[ "$(systemctl show -p MainPID --value boardbridge)" != "$before" ] || fail 'an upgrade does not restart the service'
grep -q ttyS1 $config || fail 'the upgrade replaced the configuration'
udevadm test /sys/class/tty/ttyS1 2>&1 | grep -i 'boardbridge.*invalid\|60-boardbridge.*\(error\|unknown\)' > /dev/ttyS0 && fail 'the udev rules'
systemd-analyze security --no-pager boardbridge | tail -n 1 > /dev/ttyS0
systemctl reload boardbridge || fail 'reload'
cp $config right.toml
echo 'mistake = 1' >> $config
systemctl reload boardbridge 2> /dev/null && fail 'a reload with a mistake succeeds'
journalctl --no-pager -b -u boardbridge | grep -q 'boardbridge.toml:.*mistake' || fail 'it does not say which mistake'
cp right.toml $config
active 'after a reload with a mistake'
# A gadget that runs, without the hardware.
mkdir -p /run/systemd/system/boardbridge-gadget.service.d
printf '[Unit]\nConditionPathExists=\n[Service]\nExecStart=\nExecStart=/bin/true\nExecStop=\nRemainAfterExit=yes\n' \
  > /run/systemd/system/boardbridge-gadget.service.d/vm.conf
systemctl daemon-reload
systemctl start boardbridge-gadget || fail 'the gadget'
apt-get remove -y boardbridge > apt.log 2>&1 || fail 'apt remove'
systemctl is-active --quiet boardbridge && fail 'it still runs'
systemctl is-active --quiet boardbridge-gadget && fail 'the gadget still runs'
[ -e /var/lib/boardbridge/games ] || fail 'removing took the games'
apt-get purge -y boardbridge > apt.log 2>&1 || fail 'apt purge'
left=$(find /etc /usr /var/lib -name '*boardbridge*' ! -path '/var/lib/dpkg/*' ! -path '/var/lib/systemd/*')
[ -z "$left" ] || fail "purging left $left"
say DONE
systemctl poweroff
"""

UNIT = """[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/vm/run
TimeoutStartSec=infinity
[Install]
WantedBy=multi-user.target
"""


class Failed(Exception):
    """Something else happened than what must happen."""


def say(text: str) -> None:
    print(f"vm: {text}", flush=True)


def fresh_root() -> Path:
    """A Debian with systemd and a kernel, as an archive."""
    archive = CACHE / f"root-{zlib.crc32(INCLUDE.encode()):08x}.tar"
    if not archive.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        say("a fresh Debian 12 with systemd")
        new = archive.with_suffix(".new")
        subprocess.run(
            ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={INCLUDE}", "--format=tar", "bookworm", new], check=True
        )
        new.rename(archive)
    return archive


def image(package: Path, game: list[str], phone: list[str], work: Path) -> tuple[Path, Path, Path]:
    """The disk, the kernel and its first file system."""
    root = work / "root"
    root.mkdir()
    subprocess.run(["tar", "-xf", fresh_root(), "-C", root], check=True)
    (root / "vm").mkdir()
    shutil.copy(package, root / "vm/boardbridge.deb")
    script = root / "vm/run"
    guest = GUEST.replace("GAME", "startpos moves " + " ".join(game[: BEFORE - 1]))
    script.write_text(guest.replace("PHONE", "true" if phone else "false").replace("SOON", str(FIRST_MOVE)))
    script.chmod(0o755)
    (root / "etc/systemd/system/vm.service").write_text(UNIT)
    wants = root / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True, exist_ok=True)
    (wants / "vm.service").symlink_to("/etc/systemd/system/vm.service")
    # A login there would take the host's answers.
    (root / "etc/systemd/system/serial-getty@ttyS0.service").symlink_to("/dev/null")
    (root / "etc/hostname").write_text("guest\n")
    (root / "etc/fstab").write_text("/dev/vda / ext4 defaults 0 1\n")
    network = root / "etc/systemd/network/eth.network"
    network.write_text("[Match]\nName=e*\n[Network]\nAddress=10.0.2.15/24\n")
    (wants / "systemd-networkd.service").symlink_to("/lib/systemd/system/systemd-networkd.service")
    kernel, initrd = work / "vmlinuz", work / "initrd"
    shutil.copy(next(root.glob("boot/vmlinuz-*")), kernel)
    shutil.copy(next(root.glob("boot/initrd.img-*")), initrd)
    disk = work / "disk"
    subprocess.run(["mke2fs", "-q", "-t", "ext4", "-d", root, disk, "2G"], check=True)
    shutil.rmtree(root)
    return disk, kernel, initrd


class Machine:
    """The running QEMU, and what it says on its console."""

    def __init__(self, parts: tuple[Path, Path, Path], boards: list[str], ports: dict[int, int], plugged: bool) -> None:
        """`boards`: those of the serial ports, and that of the adapter, which may be plugged in. `ports`: of the guest, and which of this
        machine's leads there."""
        disk, kernel, initrd = parts
        self.began = time.monotonic()
        self.words: list[str] = []
        self.changed = threading.Condition()
        command = ["qemu-system-x86_64", "-nodefaults", "-nographic", "-accel", "tcg,thread=multi", "-cpu", "max", "-m", "768"]
        # A machine that is reset may hang before its kernel (QEMU 7.2): it is switched off and on instead.
        command += ["-no-reboot"]
        command += ["-smp", "2", "-serial", "stdio", "-serial", boards[0], "-kernel", str(kernel), "-initrd", str(initrd)]
        # The usual third port shares its interrupt with the first.
        command += ["-chardev", f"serial,id=fish,path={boards[1]}"]
        command += ["-device", "isa-serial,chardev=fish,index=2,iobase=0x3e8,irq=5"]
        command += ["-append", "root=/dev/vda rw console=ttyS0 quiet loglevel=3 mitigations=off nokaslr no_timer_check systemd.show_status=0"]
        command += ["-drive", f"file={disk},if=virtio,format=raw,cache=unsafe"]
        forward = "".join(f",hostfwd=tcp:127.0.0.1:{here}-10.0.2.15:{there}" for there, here in ports.items())
        command += ["-netdev", f"user,id=net,restrict=on{forward}", "-device", "virtio-net-pci,netdev=net,romfile="]
        self.monitor = disk.with_name("monitor")
        command += ["-monitor", f"unix:{self.monitor},server=on,wait=off", "-device", "qemu-xhci,id=usb"]
        command += ["-chardev", f"serial,id=plug,path={boards[2]}", "-chardev", "file,id=other,path=/dev/null"]
        if plugged:
            command += ["-device", f"{ADAPTER},id=first"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0
        )
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    @property
    def age(self) -> float:
        return time.monotonic() - self.began

    def read(self) -> None:
        assert self.process.stdout is not None
        with (CACHE / "console.log").open("a") as log:
            for raw in self.process.stdout:
                line = raw.decode(errors="replace").rstrip()
                log.write(f"{self.age:7.2f} {line}\n")
                log.flush()
                word = re.search(r"VM:(.*)$", line)
                if word:
                    say(f"{word[1]} after {self.age:.1f} s")
                    with self.changed:
                        self.words.append(word[1])
                        self.changed.notify_all()

    def hear(self, wanted: str) -> str:
        """The guest's next word, which must begin so; returns the rest."""
        with self.changed:
            if not self.changed.wait_for(lambda: self.words, PATIENCE - self.age):
                raise Failed(f"the guest did not say {wanted} within the {PATIENCE} s it had")
            word = self.words.pop(0)
        if not word.startswith(wanted):
            raise Failed(f"the guest said: {word}")
        return word.removeprefix(wanted).strip()

    def does(self, order: str) -> None:
        """Tells QEMU something."""
        with socket.socket(socket.AF_UNIX) as monitor:
            monitor.settimeout(PATIENCE)
            monitor.connect(str(self.monitor))
            said = b""
            for line in [b"", order.encode() + b"\n"]:
                monitor.sendall(line)
                said = b""
                while not said.endswith(b"(qemu) "):
                    said += monitor.recv(4096)
            if b"Error" in said:
                raise Failed(f"{order}: {said.decode(errors='replace')}")

    def ends(self) -> None:
        """It is switched off."""
        self.process.wait(PATIENCE - self.age)

    def answer(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")


def free_port() -> int:
    """A port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def play(port: int, start: int, plies: int, program: str) -> None:
    """The chess program's part."""
    moves = [str(HERE / "first_moves.py"), "--boardbridge", program, "--connect", f"127.0.0.1:{port}", "--patience", "300"]
    subprocess.run([sys.executable, *moves, "--start", str(start), "--plies", str(plies)], check=True)


def simulated(program: str, kind: str, link: Path, hand: list[str]) -> subprocess.Popen[bytes]:
    """A board at a pseudo-terminal."""
    with (CACHE / f"{link.name}.log").open("w") as log:
        command = [program, "simulate", kind, "--link", str(link), *hand]
        board = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT)
    until = time.monotonic() + 60
    while not link.exists():
        if time.monotonic() > until:
            board.kill()
            raise Failed(f"the simulated board {link.name} has no port")
        time.sleep(0.05)
    return board


def hand(machine: Machine, board: subprocess.Popen[bytes]) -> None:
    """The hand makes the move that the guest asks for."""
    order = machine.hear("HAND")
    assert board.stdin is not None
    board.stdin.write(f"{order}\n".encode())
    board.stdin.flush()
    machine.answer()


def sees(phone: subprocess.Popen[bytes] | None) -> None:
    """What the phone has to see was seen."""
    if phone and phone.wait(PATIENCE):
        raise Failed("the phone did not see what it has to see")


def first_game(machine: Machine, board: subprocess.Popen[bytes], phone: list[str]) -> None:
    """The host's part of the first game."""
    machine.hear("PLUG")
    machine.does(f"device_add {ADAPTER},id=first")
    plugged = time.monotonic()
    machine.answer()
    browser = subprocess.Popen([*phone, machine.hear("CODE"), "first"]) if phone else None
    hand(machine, board)
    sees(browser)
    if phone:
        took = time.monotonic() - plugged
        say(f"from the plug to the answer on the phone: {took:.1f} s")
        if took > FIRST_MOVE:
            raise Failed("that took too long")
    machine.hear("from the plug")
    for word, order in REPLUG.items():
        machine.hear(word)
        machine.does(order)
        machine.answer()
    machine.hear("it was")
    hand(machine, board)


def main() -> int:
    package, phone = Path(sys.argv[1]).resolve(), sys.argv[2:]
    games = REPOSITORY / "tests/games/lichess.uci"
    game = games.read_text().splitlines()[0].split()
    port, web = free_port(), free_port()
    ports = {9670: port, 9660: web}
    boards: list[subprocess.Popen[bytes]] = []
    machine = None
    with tempfile.TemporaryDirectory(dir=REPOSITORY / "target") as folder:
        work = Path(folder)
        try:
            subprocess.run(["dpkg-deb", "-x", package, work / "host"], check=True)
            program = str(work / "host/usr/bin/boardbridge")
            parts = image(package, game, phone, work)
            if phone:
                # It keeps what a phone does: its cookie.
                phone = [*phone, f"http://127.0.0.1:{web}/", str(work / "phone")]
            links = [work / "citrine", work / "fish", work / "first"]
            moves = ["--game", str(games), "--plays", "white", "--hand-delay", "500ms"]
            boards.append(simulated(program, "novag-citrine", links[0], moves))
            moves = ["--seed", "7", "--plays", "white", "--hand-delay", "100ms"]
            boards.append(simulated(program, "swpp-board", links[1], moves))
            boards.append(simulated(program, "novag-citrine", links[2], ["--hand-delay", "0s"]))
            places = [os.path.realpath(link) for link in links]
            (CACHE / "console.log").unlink(missing_ok=True)
            machine = Machine(parts, places, ports, plugged=False)
            first_game(machine, boards[2], phone)
            machine.hear("PLAY")
            play(port, 0, BEFORE, program)
            machine.answer()
            machine.hear("REBOOT")
            machine.ends()
            spent = machine.age
            machine = Machine(parts, places, ports, plugged=True)
            if phone:
                machine.hear("AGAIN")
            browser = subprocess.Popen([*phone, "paired", "first"]) if phone else None
            hand(machine, boards[2])
            sees(browser)
            machine.hear("SEEN")
            machine.answer()
            machine.hear("PLAY")
            play(port, BEFORE, AFTER, program)
            machine.answer()
            machine.hear("Stockfish has played")
            machine.hear("DONE")
            say(f"installed, played, rebooted, played on, removed: {spent + machine.age:.0f} s")
            return 0
        except (Failed, OSError, subprocess.SubprocessError) as failed:
            say(f"FAILED: {failed}")
            for log in (CACHE / f"{name}.log" for name in ("console", "citrine", "fish", "first")):
                if log.exists():
                    print(f"-- the end of {log.name}", *log.read_text().splitlines()[-40:], sep="\n")
            return 1
        finally:
            for process in [*([machine.process] if machine else []), *boards]:
                process.kill()
                process.wait()


if __name__ == "__main__":
    sys.exit(main())
