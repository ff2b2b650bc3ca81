"""The processes of the acceptance test: the daemon, the simulated boards, and what they say."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import chess

REPOSITORY = Path(__file__).resolve().parents[2]
BOARDBRIDGE = os.environ.get("BOARDBRIDGE", str(REPOSITORY / "target/release/boardbridge"))
TAIL = 15

CITRINE = "novag-citrine"
UCB = "novag-ucb"
SWPP = "swpp"
NEO = "miko-neo"

# What a simulator calls what the daemon calls otherwise.
SIMULATED = {SWPP: "swpp-board"}
# By what name boards are found on Bluetooth.
BLE_NAMES = {NEO: "Square Off Neo"}

# The documented pacing, in milliseconds: the defaults of the daemon.
DOCUMENTED: dict[str, dict[str, int]] = {
    CITRINE: {
        "command_gap": 150,
        "second_send": 200,
        "second_send_capture": 3_000,
        "move_wait": 3_000,
        "setup_wait": 5_000,
        "correction_wait": 3_000,
    },
    # That home-made boards take a moment between two shown moves is our own choice.
    SWPP: {"move_wait": 3_000, "correction_wait": 3_000},
    NEO: {"correction_wait": 3_000},
    UCB: {"line_gap": 200, "move_wait": 15_000, "setup_wait": 60_000, "correction_wait": 3_000},
}
GAPS = {"command_gap", "second_send", "second_send_capture", "line_gap"}
# The simulators measure gaps on arrival. A loaded machine may deliver the first of two lines this much late (40 ms measured).
GAP_MARGIN_MS = 45


# Lines that do not report moves: our own notes, what an SWPP board is told of the game, what the hand was told to do
# beside making moves, and lamps that a question put out and that are lit again.
ASIDE = (
    "  (", "greeted ", "announced ", "ended ", "off", "on", "took-back ", "wrong ", "refused wrong ", "put-out ", "lit-again ",
    "told-again ",
)


class Failed(Exception):
    """Something else happened than what must happen."""


@dataclass(frozen=True)
class Clock:
    """How many times faster than real boards everything is."""

    speed: int

    @property
    def patience(self) -> float:
        """Seconds the longest single thing may take: a board that was off is asked three times before."""
        return 40.0 if self.speed > 1 else 180.0

    def pacing(self, kind: str) -> dict[str, int]:
        """The keys of the configuration, in milliseconds; none in real time: then the defaults are tested."""
        if self.speed == 1:
            return {}
        return {
            key: ms // self.speed + (GAP_MARGIN_MS if key in GAPS else 0)
            for key, ms in DOCUMENTED.get(kind, {}).items()
        }


@dataclass(frozen=True)
class BoardSpec:
    """A board of the set."""

    name: str
    kind: str
    position_format: int | None = None
    # Another one than the kind's own.
    simulated: str | None = None
    ble: str | None = None
    # Further lines of its configuration, and options of its simulator.
    keys: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def ble_name(self) -> str | None:
        """By what name it is found on Bluetooth, if it is on it."""
        return self.ble or BLE_NAMES.get(self.kind)

    @property
    def simulator(self) -> str:
        """What its simulator calls it."""
        return self.simulated or SIMULATED.get(self.kind, self.kind)


class Log:
    """Lines of a process, which other threads may await."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._news = threading.Condition()
        self._open = 0

    def follow(self, stream: IO[str]) -> None:
        """Takes in lines until the stream ends. Another one may follow."""
        self._open += 1

        def run() -> None:
            for line in stream:
                with self._news:
                    self._lines.append(line.rstrip("\n"))
                    self._news.notify_all()
            with self._news:
                self._open -= 1
                self._news.notify_all()

        threading.Thread(target=run, daemon=True).start()

    def note(self, line: str) -> None:
        """Adds a line of our own, for the reader of a failure's log."""
        with self._news:
            self._lines.append(line)

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, index: int) -> str:
        """The line of this index."""
        return self._lines[index]

    def lines(self) -> list[str]:
        """A copy of everything."""
        with self._news:
            return list(self._lines)

    def find(self, matches: Callable[[str], bool], since: int, timeout: float) -> int | None:
        """The index of the first such line from `since` on, awaited; `None` if it does not come."""
        until = time.monotonic() + timeout
        with self._news:
            while True:
                while since < len(self._lines):
                    if matches(self._lines[since]):
                        return since
                    since += 1
                left = until - time.monotonic()
                if left <= 0 or self._open == 0:
                    return None
                self._news.wait(left)


class Daemon:
    """`boardbridge run` on a generated configuration."""

    def __init__(
        self,
        folder: Path,
        boards: list[BoardSpec],
        clock: Clock,
        bluetooth: str | None = None,
        log_level: str = "boardbridge=debug",
    ) -> None:
        self._config = folder / "boardbridge.toml"
        self._config.write_text(configuration(folder, boards, clock))
        # Nothing may be left out of the log, though games are played many times faster than by hand.
        self._environment = {**os.environ, "NO_COLOR": "1", "RUST_LOG": log_level}
        if bluetooth:
            self._environment["DBUS_SYSTEM_BUS_ADDRESS"] = bluetooth
        self.log = Log()
        self._process, self.address = self._start()
        # Whenever it is started again, relays find it there.
        self._config.write_text(self._config.read_text().replace("127.0.0.1:0", self.address, 1))

    def _start(self) -> tuple[subprocess.Popen[str], str]:
        since = len(self.log)
        process = subprocess.Popen(
            [BOARDBRIDGE, "run", "--config", str(self._config)],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=self._environment,
        )
        assert process.stderr is not None
        self.log.follow(process.stderr)
        found = self.log.find(lambda line: "uci listens at " in line, since, 20)
        if found is None:
            raise Failed("the daemon does not listen:\n" + "\n".join(self.log.lines()[-TAIL:]))
        return process, self.log.line(found).rsplit(" ", 1)[1]

    def kill(self) -> None:
        """`kill -9`."""
        self._process.kill()
        self._process.wait(10)

    def again(self) -> None:
        """Starts it again after that."""
        self._process, _ = self._start()

    def says(self, board: str, text: str, since: int, timeout: float) -> None:
        """Waits until the log says `text` of this board."""
        span = f"board{{name={board}}}: "
        if self.log.find(lambda line: span in line and text in line, since, timeout) is None:
            raise Failed(f"the daemon did not say `{text}` of {board} within {timeout:.0f} s")

    def tail(self, board: str) -> list[str]:
        """The last lines about this board or no board."""
        lines = self.log.lines()
        about = [line for line in lines if "board{" not in line or f"board{{name={board}}}" in line]
        return about[-TAIL:]

    def stop(self) -> int:
        """Ends it; its exit status."""
        self._process.terminate()
        try:
            return self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def games_of(folder: Path) -> Path:
    """Where the daemon keeps the games."""
    return folder / "games"


def state_of(folder: Path) -> Path:
    """What the daemon goes on with after a restart."""
    return folder / "state"


def port_of(folder: Path, board: str) -> Path:
    """Where a board's pseudo-terminal is to be found."""
    return folder / f"tty-{board}"


def configuration(folder: Path, boards: list[BoardSpec], clock: Clock) -> str:
    """The daemon's configuration."""
    lines = ['[uci]\nlisten = "127.0.0.1:0"\n\n[status]\nlisten = "127.0.0.1:0"\n']
    lines.append(f'\n[state]\ndirectory = "{state_of(folder)}"\n')
    lines.append(f'\n[games]\ndirectory = "{games_of(folder)}"\n')
    for board in boards:
        lines.append(f"\n[boards.{board.name}]\nkind = \"{board.kind}\"\n")
        if board.ble_name:
            lines.append(f'ble = {{ name = "{board.ble_name}" }}\n')
        else:
            lines.append(f"serial = {{ port = \"{port_of(folder, board.name)}\" }}\n")
        if board.kind == SWPP:
            lines.append("forgets = false\n")  # the simulated board keeps its game while its cable is out
        if board.position_format is not None:
            lines.append(f"position_format = {board.position_format}\n")
        lines += [f"{key}\n" for key in board.keys]
        for key, ms in clock.pacing(board.kind).items():
            lines.append(f'{key} = "{ms}ms"\n')
    return "".join(lines)


class Simulator:
    """`boardbridge simulate`: a board and the hand above it, which does only what it is told."""

    # How lines begin that are passed over.
    aside: tuple[str, ...] = ASIDE

    def __init__(self, folder: Path, spec: BoardSpec, clock: Clock) -> None:
        self.spec = spec
        self.log = Log()
        self._read = 0
        # What must be on the board by its reports; a shown move counts when it was executed.
        self.board = chess.Board()
        self.shown: chess.Move | None = None
        command = [BOARDBRIDGE, "simulate", spec.simulator, "--link", str(port_of(folder, spec.name))]
        command += ["--hand-delay", "never", *spec.options]
        if spec.kind != SWPP:
            command += ["--speed", str(clock.speed)]
        if spec.position_format is not None:
            command += ["--position-format", str(spec.position_format)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        assert self._process.stdout is not None
        self.log.follow(self._process.stdout)
        word, _, self.place = self.report(20).partition(" ")
        if word != "plugged":
            raise Failed(f"{spec.name}: no pseudo-terminal, and no Bluetooth")

    def order(self, *orders: str) -> None:
        """Tells the hand what to do, in one go."""
        assert self._process.stdin is not None
        for order in orders:
            self.log.note(f"  (hand: {order})")
            if order == "take-back":
                self.board.pop()  # its report is passed over
        try:
            self._process.stdin.write("".join(order + "\n" for order in orders))
            self._process.stdin.flush()
        except OSError as error:
            raise Failed(f"the simulator is gone: {error}") from error

    def report(self, timeout: float) -> str:
        """The next report. What was lost or is faulty is a failure, whatever was expected."""
        index = self.log.find(lambda line: not line.startswith(self.aside), self._read, timeout)
        if index is None:
            raise Failed(f"no report from the board within {timeout:.0f} s")
        self._read = index + 1
        report = self.log.line(index)
        self._follow(report)
        return report

    def told_again(self, since: int, timeout: float) -> None:
        """Waits until the board was told its last move once more."""
        if self.log.find(lambda line: line.startswith("told-again "), since, timeout) is None:
            raise Failed(f"{self.spec.name}: its last move was not told again within {timeout:.0f} s")

    def pending(self) -> list[str]:
        """Unread reports."""
        unread = self.log.lines()[self._read :]
        return [line for line in unread if not line.startswith(self.aside)]

    def skip(self) -> None:
        """Reads what is left over from a game that failed."""
        while self.pending():
            try:
                self.report(1)
            except Failed:
                pass

    def stands_at(self, position: chess.Board) -> bool:
        """Whether the pieces stand so and no shown move is to be executed."""
        same = self.board.board_fen() == position.board_fen() and self.board.turn == position.turn
        return same and self.shown is None

    def _follow(self, report: str) -> None:
        word, _, rest = report.partition(" ")
        match word:
            case "lost" | "fault":
                raise Failed(f"the board reports: {report}")
            case "shown":
                self.shown = chess.Move.from_uci(rest)
            case "executed" | "made":
                self.board.push_uci(rest)
                self.shown = None
            case "take-back":
                # Asked by the lamps: of a move that was only shown, or of the last on the board.
                if self.shown is None:
                    self.board.pop()
                self.shown = None
            case "new-game":
                self.board.reset()
                self.shown = None
            case "set-up":
                self.board = chess.Board(rest)
                self.shown = None

    def stop(self) -> None:
        """Ends it: its hand goes."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            self._process.wait(5)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
