#!/usr/bin/env python3
"""Acceptance: a hall of boards on a broker, which is killed, as daemons are, cut off, stopped and made to deliver twice.

Four daemons, each with home-made boards over TCP, and as many chess programs, each of which plays whole games on a board of another
daemon. Debian's mosquitto, started here, is between them; two of the daemons reach it through a proxy that doubles and reorders. The broker is
killed and started again, with and without what it remembers, daemons are killed, both are stopped for a while, and in a network of its
own the packets of a daemon are dropped. Every `bestmove` must be the hand's, once and in order, every board is shown its game only, the event
streams tell every move once, and the PGN files of both daemons have every game. One more table, in a process of its own, times its moves
beside the broker's own publish-to-receive. The last line is `N passed, M failed`.

A game's file is written a moment after a daemon hears that another one has begun: one that is killed before that, or less than LATE after
it, may have kept only the beginning. With `--hard` both daemons of a game may die within one move.

Without options a small hall plays for a minute; with `--calm` nothing is disturbed. `--full` is the whole one: 200 boards, 50 kills of
daemons, 20 of the broker.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import hall_broker
from hall_tables import Board, Program, Table, Watcher
from kept import kept
from rig import BOARDBRIDGE, REPOSITORY, Failed

GAMES = REPOSITORY / "tests/games/lichess.uci"
DAEMONS = 4
# These reach the broker through the proxy.
PROXIED = {2, 3}
NAMESPACE = "HALL_NAMESPACE"
# Seconds: without any disturbance at first, between two disturbances, something is dead, stopped or cut off.
CALM = 12.0
APART = (0.5, 2.0)
DEAD = (0.0, 0.8)
AWAY = (0.3, 3.0)
# So long that the broker gives a daemon up, and a daemon the broker.
LONG_AWAY = (14.0, 24.0)
# Seconds without a move at a table, once nothing is disturbed any more, or while everything is all the time.
STUCK = 60.0
STUCK_DISTURBED = 180.0
# Seconds after the first move of the next game at which all of a game is in its file, on a busy machine.
LATE = 5.0
# A move over the broker takes at most so many times the broker's own publish-to-receive.
RATIO = 2.0
PORTS = iter(range(20_000, 32_000))


@dataclass
class Size:
    """How large the hall is, and what happens in it."""

    boards: int
    # Plies of the longest game that is played.
    plies: int
    broker_kills: int
    kills: int
    stops: int
    cuts: int
    long: int
    hand: tuple[float, float]


SMALL = Size(boards=6, plies=50, broker_kills=4, kills=8, stops=5, cuts=3, long=1, hand=(0.1, 0.5))
FULL = Size(boards=50, plies=200, broker_kills=20, kills=50, stops=20, cuts=10, long=6, hand=(0.3, 1.5))


def free_ports(count: int) -> list[int]:
    """Ports that nobody has now, below those that the system gives to connections: what is killed must find its own again."""
    found = []
    for port in PORTS:
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            return found
    raise Failed("there are no free ports")


def address(daemon: int) -> str:
    """Where this daemon reaches the broker, or the proxy: an address of its own, which can be cut off."""
    return f"127.0.0.{11 + daemon}"


class Daemon:
    """`boardbridge run`, one after the other."""

    def __init__(self, folder: Path, number: int, broker: int, boards: list[tuple[str, int]], remotes: list[tuple[str, int]]) -> None:
        self.name = f"hall-{number + 1}"
        self.folder = folder / self.name
        self.folder.mkdir()
        self.uci, self.status = free_ports(2)
        lines = [f'[uci]\nlisten = "127.0.0.1:{self.uci}"', f'[status]\nlisten = "127.0.0.1:{self.status}"']
        lines += ['[web]\nlisten = "off"', '[livechess]\nlisten = "off"']
        lines += [f'[state]\ndirectory = "{self.folder}/state"', f'[games]\ndirectory = "{self.folder}/games"']
        lines += [f'[mqtt]\nurl = "mqtt://{address(number)}:{broker}"\nname = "{self.name}"']
        for board, port in boards:
            lines.append(f'[boards.{board}]\nkind = "swpp"\nforgets = false\nmove_wait = "100ms"\ntcp = {{ address = "127.0.0.1:{port}" }}')
        for board, owner in remotes:
            lines.append(f'[boards.far-{board}]\nkind = "remote"\nmqtt = {{ daemon = "hall-{owner + 1}", board = "{board}" }}')
        self._config = self.folder / "boardbridge.toml"
        self._config.write_text("\n\n".join(lines) + "\n")
        self.log = self.folder / "log"
        # When it was killed.
        self.killed: list[float] = []

    def start(self) -> None:
        """Starts it."""
        level = os.environ.get("RUST_LOG", "boardbridge=info")
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [BOARDBRIDGE, "run", "--config", str(self._config)],
                stdin=subprocess.DEVNULL,
                stderr=log,
                env={**os.environ, "NO_COLOR": "1", "RUST_LOG": level},
            )

    def kill(self) -> None:
        """`kill -9`."""
        self.killed.append(time.monotonic())
        self.process.kill()
        self.process.wait(10)

    def stop(self) -> int:
        """Ends it."""
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        return self.process.wait(15)

    def seconds(self) -> float:
        """Processor time of the one that runs."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Hall:
    """Everything that runs, and what is done to it."""

    def __init__(self, folder: Path, size: Size, seed: int, mosquitto: str) -> None:
        self.size, self.dice = size, random.Random(seed)
        self.folder = folder
        broker_port, *ports = free_ports(2 + DAEMONS * size.boards)
        self.broker = hall_broker.Broker(folder, mosquitto, ["127.0.0.1", *map(address, set(range(DAEMONS)) - PROXIED)], broker_port)
        self.tables, self.boards = [], []
        lines = [line.split() for line in GAMES.read_text().splitlines()]
        self.lines = [line for line in lines if len(line) <= size.plies]
        self.daemons: list[Daemon] = []
        self.programs: list[Program] = []
        self.watchers: list[Watcher] = []
        self._children: list[subprocess.Popen[str]] = []
        self._ports = ports
        self.done: dict[str, int] = {}
        # Daemons are killed though a game has not gone on since the last kill.
        self.hard = False
        # Games of which a daemon that was killed has kept the beginning only.
        self.short = 0

    def _games(self) -> Iterator[list[str]]:
        lines = self.lines.copy()
        self.dice.shuffle(lines)
        return itertools.cycle(lines)

    async def begin(self, seed: int) -> None:
        """Starts everything."""
        size, ports = self.size, iter(self._ports)
        self.broker.start(persists=False)
        for listen in sorted(map(address, PROXIED)):
            command = [sys.executable, hall_broker.__file__, f"{listen}:{self.broker.port}", f"127.0.0.1:{self.broker.port}", str(seed)]
            self._child(command, subprocess.PIPE).stdout.readline()  # type: ignore[union-attr]
        tables: dict[int, list[tuple[Table, int]]] = {number: [] for number in range(DAEMONS)}
        for owner, count in itertools.product(range(DAEMONS), range(size.boards)):
            table = Table(f"b{owner + 1}-{count + 1}", owner, (owner + 1) % DAEMONS, self._games(), size.hand)
            tables[owner].append((table, next(ports)))
        meter = ("meter", next(ports))
        for number in range(DAEMONS):
            own = [(table.name, port) for table, port in tables[number]]
            remotes = [(table.name, table.owner) for table, _ in tables[(number - 1) % DAEMONS]]
            if number == 0:
                own.append(meter)
            if number == 1:
                remotes.append((meter[0], 0))
            self.daemons.append(Daemon(self.folder, number, self.broker.port, own, remotes))
        for table, port in itertools.chain(*tables.values()):
            board = Board(table, self.dice)
            await board.listen(port)
            self.tables.append(table)
            self.boards.append(board)
        for number, daemon in enumerate(self.daemons):
            daemon.start()
            owned = {board.table.name: board for board in self.boards if board.table.owner == number}
            seen = {name: board.table for name, board in owned.items()}
            seen |= {f"far-{table.name}": table for table in self.tables if table.player == number}
            watcher = Watcher(daemon.name, daemon.status, seen, owned)
            watcher.start()
            self.watchers.append(watcher)
        for table in self.tables:
            program = Program(table, self.daemons[table.player].uci, f"far-{table.name}")
            program.start()
            self.programs.append(program)
        command = [sys.executable, str(Path(__file__).with_name("hall_meter.py")), f"127.0.0.1:{self.broker.port}", str(meter[1])]
        command += [str(self.daemons[1].uci), meter[0], str(GAMES), str(seed)]
        self.timed = self.folder / "timed"
        with self.timed.open("w") as timed:
            self._child(command, timed)

    def _child(self, command: list[str], stdout: object) -> subprocess.Popen[str]:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, text=True)  # type: ignore[call-overload]
        self._children.append(child)
        return child

    async def disturb(self, cuts: bool) -> None:
        """Everything that may happen, in any order."""
        size = self.size
        acts: list[Callable[[bool], object]] = [self._kills_broker] * size.broker_kills + [self._kills_daemon] * size.kills
        acts += [self._stops_broker] * (size.stops // 2) + [self._stops_daemon] * (size.stops - size.stops // 2)
        acts += [self._cuts] * (size.cuts if cuts else 0)
        self.dice.shuffle(acts)
        left = size.long
        for act in acts:
            lasts = left > 0 and act in (self._stops_broker, self._stops_daemon, self._cuts) and self.dice.random() < 0.5
            left -= lasts
            await act(lasts)  # type: ignore[misc]
            self.done[act.__name__.strip("_")] = self.done.get(act.__name__.strip("_"), 0) + 1
            await asyncio.sleep(self.dice.uniform(*APART))
            self.check(STUCK_DISTURBED)

    def check(self, patience: float) -> None:
        """Fails if a table has not moved for so long, or anything went wrong."""
        for table in self.tables:
            if table.faults:
                raise Failed(table.faults[0])
            if not table.over.is_set() and time.monotonic() - table.moved > patience:
                table.fault(f"nothing for {patience:.0f} s")
                raise Failed(table.faults[0])
        for daemon in self.daemons:
            if daemon.process.poll() is not None:
                raise Failed(f"{daemon.name} ended with status {daemon.process.returncode}")

    def _any_daemon(self) -> tuple[int, Daemon]:
        return self.dice.choice(list(enumerate(self.daemons)))

    async def _kills_broker(self, _: bool) -> None:
        self.broker.kill()
        await asyncio.sleep(self.dice.uniform(*DEAD))
        await asyncio.to_thread(self.broker.start, self.dice.random() < 0.5)

    async def _kills_daemon(self, _: bool) -> None:
        number, daemon = self._any_daemon()
        if not self.hard:
            await self._all_moved()
        for board in self.boards:
            board.waits |= board.table.owner == number
        daemon.kill()
        await asyncio.sleep(self.dice.uniform(*DEAD))
        daemon.start()

    async def _all_moved(self) -> None:
        since = time.monotonic()
        while not all(table.moved > since or table.over.is_set() for table in self.tables):
            self.check(STUCK)
            await asyncio.sleep(0.1)

    async def _stops_broker(self, lasts: bool) -> None:
        self.broker.signal(signal.SIGSTOP)
        await asyncio.sleep(self.dice.uniform(*(LONG_AWAY if lasts else AWAY)))
        self.broker.signal(signal.SIGCONT)

    async def _stops_daemon(self, lasts: bool) -> None:
        _, daemon = self._any_daemon()
        daemon.process.send_signal(signal.SIGSTOP)
        await asyncio.sleep(self.dice.uniform(*(LONG_AWAY if lasts else AWAY)))
        daemon.process.send_signal(signal.SIGCONT)

    async def _cuts(self, lasts: bool) -> None:
        number, _ = self._any_daemon()
        rule = ["pref", "5", "to", address(number), "blackhole"]
        subprocess.run(["ip", "rule", "add", *rule], check=True)
        await asyncio.sleep(self.dice.uniform(*(LONG_AWAY if lasts else AWAY)))
        subprocess.run(["ip", "rule", "del", *rule], check=True)

    async def ends(self) -> None:
        """Every table ends its game."""
        for table in self.tables:
            table.ends = True
            table.moved = time.monotonic()
        while not all(table.over.is_set() for table in self.tables):
            self.check(STUCK)
            await asyncio.sleep(0.2)
        self.check(STUCK)

    def stop(self) -> None:
        """Ends everything."""
        for watcher in self.watchers:
            watcher.stop()
        for child in self._children:
            child.kill()
            child.wait(10)
        with suppress(OSError):
            self.broker.signal(signal.SIGCONT)
        for daemon in self.daemons:
            daemon.stop()
        self.broker.kill()

    def kept(self) -> int:
        """The daemons have kept every game as it was played; how many."""
        count = 0
        for table in self.tables:
            for daemon, board in ((table.owner, table.name), (table.player, f"far-{table.name}")):
                games = kept(self.daemons[daemon].folder / "games", board)
                found = [[move.uci() for move in game.mainline_moves()] for game in games]
                played = table.begun[: table.done]
                if not self._are_kept(found, played, table, self.daemons[daemon].killed):
                    lost = [number for number, game in enumerate(played) if game not in found]
                    more = [" ".join(game) for game in found if game not in played]
                    raise Failed(
                        f"{self.daemons[daemon].name} has kept {len(found)} games of {board}, {len(played)} were played: "
                        f"lost are {lost}, {more} were not played"
                    )
                count += len(games)
        return count

    def _are_kept(self, found: list[list[str]], played: list[list[str]], table: Table, killed: list[float]) -> bool:
        """Whether these games are the ones that were played, but for what a kill just after a game's end takes."""
        left = list(found)
        # The last game of a table has no next one.
        settled = [at + LATE for at in table.settled] + [float("inf")]
        for game, end, late in zip(played, table.ended, settled):
            if left and left[0] == game:
                del left[0]
            elif any(end <= kill <= late for kill in killed):
                self.short += 1
                if left and left[0] == game[: len(left[0])]:
                    del left[0]
            else:
                return False
        return not left


def timed(file: Path) -> tuple[list[float], list[float]]:
    """Seconds that moves took, and the broker alone."""
    samples = [json.loads(line) for line in file.read_text().splitlines() if line.endswith("}")]
    return [sample["move"] for sample in samples], [sample["broker"] for sample in samples if sample["broker"] is not None]


def quantiles(values: list[float]) -> str:
    """The median and the slow ones, in ms."""
    ordered = sorted(values)
    at = [ordered[min(len(ordered) - 1, int(len(ordered) * part))] * 1000 for part in (0.5, 0.9, 0.99)]
    return "median {:.2f} ms, p90 {:.2f} ms, p99 {:.2f} ms, of {}".format(*at, len(ordered))


async def play(folder: Path, size: Size, arguments: argparse.Namespace, mosquitto: str, cuts: bool) -> int:
    """Plays; how many failures."""
    hall, passed, failed = Hall(folder, size, arguments.seed, mosquitto), 0, 0
    began, calm = time.monotonic(), None
    try:
        hall.hard = arguments.hard
        await hall.begin(arguments.seed)
        await asyncio.sleep(CALM)
        calm = timed(hall.timed)
        hall.check(CALM)
        busy = sum(daemon.seconds() for daemon in hall.daemons)
        plies = sum(len(table.latencies) for table in hall.tables)
        print(f"calm for {CALM:.0f} s: {plies} moves of hands, {busy:.2f} s of processor in the daemons")
        if not arguments.calm:
            await hall.disturb(cuts)
        await hall.ends()
    except Failed as failure:
        failed += 1
        print(f"FAILED {failure}")
    finally:
        hall.stop()
    happened = ", ".join(f"{name.replace('_', ' ')} {count} times" for name, count in hall.done.items())
    print(f"{time.monotonic() - began:.0f} s; {happened}")
    for table in hall.tables:
        if table.faults:
            failed += 1
            print(f"FAILED {table.faults}\n" + "\n".join(f"    {line}" for line in table.log))
        else:
            passed += table.done
    told = sum(watcher.told for watcher in hall.watchers)
    print(f"{passed} whole games; {told} moves told by the event streams, {sum(watcher.lagged for watcher in hall.watchers)} times late")
    if not failed:
        try:
            print(f"{hall.kept()} games kept, every move as it was played; {hall.short} cut short by a kill just after their end")
            passed += 1
        except Failed as failure:
            failed += 1
            print(f"FAILED {failure}")
    if calm and all(calm):
        ratio = statistics.median(calm[0]) / statistics.median(calm[1])
        print(f"from board to bestmove: {quantiles(calm[0])}\nthe broker alone:       {quantiles(calm[1])}\nratio {ratio:.2f}")
        passed += ratio <= RATIO
        # In the gate other things run beside it.
        failed += arguments.full and ratio > RATIO
        if arguments.full and ratio > RATIO:
            print(f"FAILED a move may take {RATIO:.0f} times what the broker takes")
    else:
        failed += 1
        print("FAILED no move was timed")
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
        for daemon in hall.daemons:
            (arguments.keep / f"{daemon.name}.log").write_bytes(daemon.log.read_bytes())
            shutil.copytree(daemon.folder / "games", arguments.keep / f"{daemon.name}.games", dirs_exist_ok=True)
        for table in hall.tables:
            (arguments.keep / f"{table.name}.txt").write_text("\n".join(table.log) + "\n")
    print(f"{passed} passed, {failed} failed", flush=True)
    return failed


def own_network() -> bool:
    """Whether this process is in a network of its own, where packets can be dropped; starts itself again in one if it can."""
    if NAMESPACE in os.environ:
        # Before the table of this machine's own addresses, where one can be cut off.
        for command in (["link", "set", "lo", "up"], ["rule", "add", "pref", "10", "lookup", "local"], ["rule", "del", "pref", "0"]):
            subprocess.run(["ip", *command], check=True)
        return True
    try:
        possible = subprocess.run(["unshare", "-rn", "ip", "link", "set", "lo", "up"], capture_output=True).returncode == 0
    except OSError:
        possible = False
    if possible:
        os.environ[NAMESPACE] = "yes"
        os.execvp("unshare", ["unshare", "-rn", sys.executable, *sys.argv])
    print("no network of its own can be had here: no packets are dropped")
    return False


def main() -> None:
    """Parses the command line and runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the whole hall")
    parser.add_argument("--calm", action="store_true", help="disturb nothing: time moves")
    parser.add_argument("--hard", action="store_true", help="kill both daemons of a game within one move, too")
    parser.add_argument("--boards", type=int, metavar="N", help="of each daemon")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="where the logs of a failure are put")
    arguments = parser.parse_args()
    mosquitto = hall_broker.mosquitto()
    if mosquitto is None:
        print("mosquitto is not installed: skipped")
        return
    cuts = own_network()
    size = FULL if arguments.full else SMALL
    if arguments.boards:
        size.boards = arguments.boards
    with tempfile.TemporaryDirectory(prefix="boardbridge-") as name:
        failed = asyncio.run(play(Path(name), size, arguments, mosquitto, cuts))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
