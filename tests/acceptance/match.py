"""One game on one board: python-chess plays one colour through the relay, the simulated hand the other."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import chess
import chess.engine

from rig import BOARDBRIDGE, CITRINE, BoardSpec, Clock, Daemon, Failed, Simulator

# Whatever the GUI limits the "engine" by, the daemon waits for the hand.
LIMITS = [
    chess.engine.Limit(white_clock=300, black_clock=300, white_inc=2, black_inc=2),
    chess.engine.Limit(depth=12),
    chess.engine.Limit(nodes=1000),
    chess.engine.Limit(time=0.1),
]


class Table:
    """A board, its simulated hand, and the GUI's engine process that leads to it."""

    def __init__(self, spec: BoardSpec, simulator: Simulator, daemon: Daemon, clock: Clock) -> None:
        self.spec = spec
        self.simulator = simulator
        self.daemon = daemon
        self.clock = clock
        # A Citrine tells that it stands at the start; the UCB cannot be asked and is given a new game.
        self.at_start = spec.kind == CITRINE
        self.after_failure = False
        self._pool = ThreadPoolExecutor(max_workers=2)
        self.engine = self._start_engine()

    def _start_engine(self) -> chess.engine.SimpleEngine:
        command = [BOARDBRIDGE, "uci", "--connect", self.daemon.address, "--board", self.spec.name]
        return chess.engine.SimpleEngine.popen_uci(command, timeout=self.clock.patience)

    def play(
        self, position: chess.Board, limit: chess.engine.Limit, game: object
    ) -> Future[chess.engine.PlayResult]:
        """`engine.play`, which waits for the hand, beside this thread."""
        return self._pool.submit(self.engine.play, position, limit, game=game)

    def recover(self) -> None:
        """After a failed game: a new relay, and whatever the board still said is forgotten."""
        self.after_failure = True
        self.engine.close()
        self.engine = self._start_engine()
        self.simulator.skip()

    def close(self) -> None:
        """The GUI quits."""
        self.engine.quit()
        self._pool.shutdown(wait=False)


@dataclass
class Planned:
    """A scenario that is to happen in a game, at the first right moment from `ply` on."""

    name: str
    moment: str
    ply: int
    run: Callable[["Match"], None]


@dataclass
class Match:
    """A game under way. `ply` moves have been played; scenarios may set it back or ahead."""

    table: Table
    moves: list[chess.Move]
    gui: chess.Color
    limit: chess.engine.Limit
    start: chess.Board = field(default_factory=chess.Board)
    planned: list[Planned] = field(default_factory=list)
    ply: int = 0
    answer: Future[chess.engine.PlayResult] | None = None
    analysis: chess.engine.SimpleAnalysisResult | None = None
    # A new one for every game: python-chess says ucinewgame then.
    game: object = field(default_factory=object)

    @property
    def simulator(self) -> Simulator:
        """The board."""
        return self.table.simulator

    @property
    def is_citrine(self) -> bool:
        """Whether the board is a Citrine."""
        return self.table.spec.kind == CITRINE

    @property
    def was_set_up(self) -> bool:
        """Whether the board was given a position: it cannot take back what came before that."""
        return self.simulator.board.root().fen() != chess.STARTING_FEN

    @property
    def patience(self) -> float:
        """Seconds any single thing may take."""
        return self.table.clock.patience

    def position(self, ply: int) -> chess.Board:
        """The position after so many plies, with the moves that led there."""
        board = self.start.copy()
        for move in self.moves[:ply]:
            board.push(move)
        return board

    def move(self, ply: int) -> str:
        """The game's move."""
        return self.moves[ply].uci()

    # What is expected.

    def expect(self, *reports: str) -> None:
        """The next reports of the board are these and no others."""
        for wanted in reports:
            report = self.simulator.report(self.patience)
            if report != wanted:
                raise Failed(f"`{wanted}` was expected of the board, `{report}` came")

    def expect_head(self, head: str) -> None:
        """The next report begins so."""
        report = self.simulator.report(self.patience)
        if not report.startswith(head):
            raise Failed(f"`{head}…` was expected of the board, `{report}` came")

    def led_to(self, ply: int) -> list[str]:
        """The hand does what the board shows until the pieces stand as after `ply` plies; the reports."""
        wanted = self.position(ply)
        seen: list[str] = []
        while True:
            report = self.simulator.report(self.patience)
            seen.append(report)
            word = report.split(" ")[0]
            if word == "shown":
                self.simulator.order("execute")
            elif word not in ("executed", "take-back", "new-game", "set-up"):
                raise Failed(f"the board is to be led to {wanted.fen()}, `{report}` came")
            if self.simulator.stands_at(wanted):
                return seen
            if len(seen) > 2 * len(self.moves) + 10:
                raise Failed(f"the board is not led to {wanted.fen()}: {seen[-6:]}")

    def mark(self) -> int:
        """Now, in the daemon's log."""
        return len(self.table.daemon.log)

    def told(self, text: str, since: int) -> None:
        """The player was told this."""
        self.table.daemon.says(self.table.spec.name, text, since, self.patience)

    def told_to_move(self, since: int) -> None:
        """The player was told that it is the hand's turn."""
        color = chess.COLOR_NAMES[self.position(self.ply).turn].capitalize()
        self.told(f"{color} to move on the board", since)

    # What the GUI does.

    def think(self, ply: int) -> None:
        """The GUI gives the position after `ply` plies and waits for a move; where no move follows but
        could, the GUI analyses."""
        position = self.position(ply)
        if ply == len(self.moves) and any(position.legal_moves):
            self.analyse(ply)
        else:
            self.answer = self.table.play(position, self.limit, self.game)

    def analyse(self, ply: int) -> None:
        """`go infinite`."""
        self.analysis = self.table.engine.analysis(self.position(ply), game=self.game)

    def stop_analysis(self) -> None:
        """`stop`: nothing was played, so nothing is answered."""
        assert self.analysis is not None
        self.analysis.stop()
        best = self.analysis.wait()
        if best.move:
            raise Failed(f"bestmove {best.move} in an analysis without a move")
        self.analysis = None

    def ready(self) -> None:
        """The player presses Board ready."""
        self.table.engine.configure({"Board ready": None})

    def answered(self, wanted: chess.Move | None) -> None:
        """The engine's answer is this move."""
        assert self.answer is not None
        try:
            result = self.answer.result(self.patience)
        except TimeoutError as error:
            raise Failed(f"bestmove {wanted} was expected, none came") from error
        if result.move != wanted:
            raise Failed(f"bestmove {wanted} was expected, {result.move} came")
        self.answer = None

    # The game.

    def play(self) -> None:
        """The whole game."""
        self._begin()
        while self.ply < len(self.moves):
            if self.position(self.ply).turn != self.gui:
                self._hand_moves()
            elif not self._happens("gui"):
                self._gui_moves()
        self._end()

    def _begin(self) -> None:
        since = self.mark()
        hand_first = self.start.turn != self.gui
        from_position = self.start.fen() != chess.STARTING_FEN
        if from_position and not hand_first:
            # Else the board would be given the position after the GUI's first move.
            self.analyse(0)
        else:
            self.think(0 if hand_first else 1)
        if self.table.after_failure:
            self.table.after_failure = False
            if not self.simulator.stands_at(self.start):
                self.led_to(0)
        elif from_position:
            self.expect_head("set-up ")
        elif not self.table.at_start:
            self.expect("new-game")
        self.table.at_start = False
        if not self.simulator.stands_at(self.start):
            raise Failed(f"the game does not begin at {self.start.fen()}")
        if self.analysis is not None:
            self.stop_analysis()
            self.think(1)
        # A UCB takes a move as soon as it has begun the game; a Citrine must first be told to report moves.
        if hand_first and self.is_citrine:
            self.told_to_move(since)

    def _gui_moves(self) -> None:
        # The first position was given by the beginning.
        if self.ply > 0:
            self.think(self.ply + 1)
        self.expect(f"shown {self.move(self.ply)}")
        self._happens("shown")
        if not self.simulator.stands_at(self.position(self.ply + 1)):
            self.simulator.order("execute")
            self.expect(f"executed {self.move(self.ply)}")
        self.ply += 1

    def _hand_moves(self) -> None:
        if self.ply > 0 and self._happens("hand"):
            return
        move = self.moves[self.ply]
        self.simulator.order(move.uci())
        self.expect(f"made {move.uci()}")
        self.answered(move)
        self.ply += 1

    def _happens(self, moment: str) -> bool:
        """Lets a scenario happen if its moment has come. `True` if it moved the game on or back."""
        for planned in self.planned:
            if planned.moment == moment and planned.ply <= self.ply:
                self.planned.remove(planned)
                before = self.ply
                self.simulator.log.note(f"  ({planned.name} at ply {before})")
                try:
                    planned.run(self)
                except Failed as failure:
                    raise Failed(f"{planned.name} at ply {before}: {failure}") from failure
                return self.ply != before
        return False

    def _end(self) -> None:
        if self.planned:
            names = ", ".join(planned.name for planned in self.planned)
            raise Failed(f"the game has no moment for {names}")
        last = self.position(self.ply)
        if self.analysis is not None:
            self.stop_analysis()
        elif not any(last.legal_moves):
            if last.turn == self.gui:
                self.think(self.ply)
            self.answered(None)
