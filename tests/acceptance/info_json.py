#!/usr/bin/env python3
"""Acceptance of `UCI_InfoJSON`: python-chess plays the beginning of a game on each simulated board, the hand makes two mistakes
and puts them right, and the program takes moves back. Every line is judged, and what the GUI shows after each step is compared
with tests/acceptance/info_json/BOARD.log. `--write` writes these files: read what has changed before you believe it.
"""

from __future__ import annotations

import argparse
import difflib
import logging
import os
import re
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import chess
import chess.engine

from gui import PREFIX, ModelGui
from match import LIMITS, Match, Table
from rig import BOARDBRIDGE, CITRINE, NEO, REPOSITORY, SWPP, UCB, BoardSpec, Clock, Daemon, Failed, Log, Simulator
from scenarios import other_move

GAME = (REPOSITORY / "tests/games/lichess.uci").read_text().splitlines()[0].split()[:10]
LOGS = REPOSITORY / "tests/acceptance/info_json"
BOARDS = [
    BoardSpec("citrine", CITRINE),
    BoardSpec("ucb1", UCB, position_format=1),
    BoardSpec("ucb2", UCB, position_format=2),
    BoardSpec("swpp", SWPP),
    BoardSpec("neo", NEO),
]
SPEED = 20
# Nothing more comes if nothing has for so long: some refreshes, and the slowest board's answer.
QUIET_S = 1.0
# A move that the board cannot mean anything by.
NONSENSE = "a1a5"


class Patient(Clock):
    """A daemon that gives the hand all the time it wants, so that every state can be looked at."""

    def pacing(self, kind: str) -> dict[str, int]:
        """The waits for the hand are long, all others fast."""
        pacing = super().pacing(kind)
        return {key: 120_000 if key.endswith("_wait") else ms for key, ms in pacing.items()}


class Recorded(Table):
    """A table whose GUI shows `info json`, behind a tee that takes down everything."""

    def _start_engine(self) -> chess.engine.SimpleEngine:
        self.lines = Log()
        reader, writer = os.pipe()
        self.lines.follow(os.fdopen(reader, encoding="ascii", newline="\n"))
        tee = [sys.executable, str(Path(__file__).with_name("tee.py")), str(writer)]
        relay = [BOARDBRIDGE, "uci", "--connect", self.daemon.address, "--board", self.spec.name]
        engine = chess.engine.SimpleEngine.popen_uci(tee + relay, timeout=self.clock.patience, pass_fds=(writer,))
        os.close(writer)
        engine.configure({"UCI_InfoJSON": True})
        return engine


@dataclass
class Story(Match):
    """The game, and what the GUI showed of it."""

    shows: ModelGui = field(default_factory=ModelGui)
    log: list[str] = field(default_factory=list)
    judged: int = 0
    _read: int = 0
    _before: ModelGui = field(default_factory=ModelGui)
    _cleared: bool = False

    def _take(self, timeout: float) -> bool:
        """The next line between the GUI and the engine; `False` if none comes."""
        lines = self.table.lines
        if lines.find(lambda _: True, self._read, timeout) is None:
            return False
        line = lines.line(self._read)
        self._read += 1
        if line.startswith("> go"):
            self.shows.starts_thinking()
            self._cleared = True
        elif line.startswith("< " + PREFIX):
            self.shows.takes(line[2:])
            self.judged += 1
        return True

    def step(self, title: str, until: Callable[[ModelGui], bool]) -> None:
        """Waits until the GUI shows this and all is quiet, and takes down what has changed."""
        end = time.monotonic() + self.patience
        while not until(self.shows):
            if not self._take(1.0) and time.monotonic() > end:
                raise Failed(f"{title}: the GUI shows {vars(self.shows)}")
        while self._take(QUIET_S):
            pass
        if not until(self.shows):
            raise Failed(f"{title}: it did not stay so, the GUI shows {vars(self.shows)}")
        self.log.append(f"== {title}")
        if self._cleared:
            self.log.append("go")
        self.log += [normal(line) for line in self.shows.since(self._before, self._cleared)]
        self._before, self._cleared = self.shows.copy(), False

    def to_do(self, title: str, words: str) -> None:
        """A step until this is to be done."""
        self.step(title, lambda gui: words in gui.state("To do"))

    def has_moved(self, title: str) -> None:
        """A step until the table of moves is as long as the game."""
        self.step(title, lambda gui: len(gui.rows("Moves")) == self.ply)

    # The parts of the game.

    def begins(self) -> None:
        """The hand is to make the first move."""
        self.think(0)
        if self.table.spec.kind in (UCB, SWPP):
            self.expect("new-game")
        if self.table.spec.kind == UCB:
            # Nothing is known of its pieces yet.
            self.to_do("the pieces are to be put up", "put the pieces on their starting squares")
            self.says_ready()
        self.to_do("the program waits for the first move", "White to move")

    def hand_moves(self) -> None:
        """The hand's move is answered."""
        if self.is_neo:
            self.simulator.order(self.move(self.ply))
            self.answered(self.moves[self.ply])
            self.ply += 1
        else:
            self._hand_moves()
        self.has_moved(f"the hand makes {self.move(self.ply - 1)}")

    def gui_moves(self, meanwhile: Callable[[], None] | None = None) -> None:
        """The program's move is shown, and made by the hand."""
        move = self.move(self.ply)
        self.think(self.ply + 1)
        if self.is_neo:
            self.ply += 1
            self.to_do(f"the motor plays {move}", "to move")
            return
        self.expect(f"shown {move}")
        self.to_do(f"the program plays {move}", f"shown: {move}.")
        if meanwhile:
            meanwhile()
        self.simulator.order("execute")
        self.expect(f"executed {move}")
        self.ply += 1
        # The boards tell nothing of that.
        self.says_ready()
        self.to_do("the hand makes it, and says so", "to move")

    @property
    def is_neo(self) -> bool:
        """Whether the board knows squares, and has a motor."""
        return self.table.spec.kind == NEO

    def says_ready(self) -> None:
        """The player presses Board ready in the middle of a search, which python-chess would not do."""
        engine = self.table.engine.protocol
        engine.loop.call_soon_threadsafe(engine.send_line, "setoption name Board ready")

    def wrong_execution(self) -> None:
        """The hand makes another move than the one shown, and puts the piece back."""
        other = other_move(self)
        back = chess.Move(other.to_square, other.from_square)
        self.simulator.order(f"wrong {other.uci()}")
        self.to_do(f"the hand makes {other.uci()} instead", f"{other.uci()} was made")
        self.simulator.order(f"wrong {back.uci()}")
        self.to_do("and puts the piece back", f"shown: {self.move(self.ply)}.")

    def nonsense(self) -> None:
        """The hand makes a move that cannot be played, and puts the piece back."""
        self.simulator.order(f"wrong {NONSENSE}")
        words = "are misplaced" if self.is_neo else f"{NONSENSE} "
        self.to_do(f"the hand makes {NONSENSE}", words)
        if self.table.spec.kind != SWPP:  # whose board tells nothing of that
            self.simulator.order(f"wrong {NONSENSE[2:]}{NONSENSE[:2]}")
            self.step("and puts the piece back", lambda gui: words not in gui.state("To do"))

    def taken_back_by_hand(self) -> None:
        """The hand takes back what was reported, and makes it again."""
        move = self.move(self.ply - 1)
        self.simulator.order("take-back")
        self.to_do(f"the hand takes {move} back", f"{move} was taken back")
        self.simulator.order(move)
        self.expect(f"made {move}")
        self.step("and makes it again", lambda gui: len(gui.rows("Moves")) == self.ply)

    def taken_back_by_gui(self) -> None:
        """The program takes two plies back."""
        back = self.ply - 2
        self.analyse(back)
        if self.is_citrine:
            for move in (self.move(back + 1), self.move(back)):
                self.expect(f"take-back {move}")
                self.to_do(f"the program takes {move} back", f"take {move} back")
                self.says_ready()
            self.to_do("the hand takes them back, and says so", "to move")
        elif self.is_neo:
            self.ply = back
            moved = lambda gui: len(gui.rows("Moves")) == back and "to move" in gui.state("To do")
            self.step("the program takes two plies back", moved)
        elif self.table.spec.kind == UCB:
            self.led_to(back)
            self.to_do("the program takes two plies back", "set up the position")
            self.says_ready()
            self.to_do("the hand sets it up, and says so", "to move")
        else:
            self.to_do("the program takes two plies back", "set up the position by hand")
            self.simulator.order("take-back", "take-back")
            self.says_ready()
            self.to_do("the hand sets it up, and says so", "to move")
        self.stop_analysis()
        self.ply = back

    def tell(self) -> None:
        """The whole story. The hand plays White."""
        kind = self.table.spec.kind
        self.begins()
        self.hand_moves()
        if kind == CITRINE:
            # It beeps by itself at whatever is wrong; that a move was taken back it tells.
            self.taken_back_by_hand()
        self.gui_moves(self.wrong_execution if kind == UCB else None)
        if kind in (SWPP, NEO):
            self.nonsense()
        self.hand_moves()
        if kind == CITRINE:
            self.taken_back_by_hand()
        self.gui_moves()
        if kind != CITRINE:
            self.nonsense()
        self.hand_moves()
        self.gui_moves()
        self.taken_back_by_gui()
        self.think(self.ply)
        self.to_do("the program waits for another move", "White to move")
        self.hand_moves()


def normal(line: str) -> str:
    """A line without what is different every time: the hand's seconds, addresses."""
    line = re.sub(r'(\[\d+,"\d+\.+ [^"]*",)\d+\.\d+\]', r"\g<1>0.0]", line)
    return re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", line)


def compare(board: str, told: list[str], write: bool) -> str:
    """Why the story is another than the file's; empty if it is the same."""
    file = LOGS / f"{board}.log"
    text = "\n".join(told) + "\n"
    if write:
        LOGS.mkdir(exist_ok=True)
        file.write_text(text)
    wanted = file.read_text() if file.exists() else ""
    diff = difflib.unified_diff(wanted.splitlines(), text.splitlines(), str(file), "now", lineterm="")
    return "\n".join(diff)


def run(spec: BoardSpec, folder: Path, write: bool) -> tuple[str, str]:
    """One board's story: what is wrong with it, and what it was."""
    clock = Patient(SPEED)
    simulator = Simulator(folder, spec, clock)
    daemon = Daemon(folder, [spec], clock, simulator.place if spec.kind == NEO else None)
    table = Recorded(spec, simulator, daemon, clock)
    story = Story(table, [chess.Move.from_uci(text) for text in GAME], chess.BLACK, LIMITS[0])
    try:
        story.tell()
        why = compare(spec.name, story.log, write)
    except Exception as error:  # the other boards are to be heard all the same
        why = str(error) if isinstance(error, Failed) else traceback.format_exc()
        why += "\n" + "\n".join(story.log + simulator.log.lines()[-10:] + table.lines.lines()[-20:] + daemon.tail(spec.name))
    finally:
        table.engine.close()
        daemon.stop()
        simulator.stop()
    return why, f"{spec.name}: {story.judged} lines"


def main() -> None:
    """Parses the command line and runs."""
    names = [spec.name for spec in BOARDS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--board", choices=names, help="this board only")
    parser.add_argument("--write", action="store_true", help="write the files instead of comparing")
    arguments = parser.parse_args()
    logging.getLogger("asyncio").setLevel(logging.CRITICAL + 1)
    boards = [spec for spec in BOARDS if arguments.board in (None, spec.name)]
    failed = 0
    with tempfile.TemporaryDirectory(prefix="boardbridge-") as folder, ThreadPoolExecutor() as pool:

        def one(spec: BoardSpec) -> tuple[str, str]:
            own = Path(folder) / spec.name
            own.mkdir()
            return run(spec, own, arguments.write)

        for why, title in pool.map(one, boards):
            failed += bool(why)
            print(f"FAILED {title}\n{why}" if why else f"ok {title}", flush=True)
    print(f"{len(boards) - failed} passed, {failed} failed", flush=True)
    os._exit(1 if failed else 0)


if __name__ == "__main__":
    main()
