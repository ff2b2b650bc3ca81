#!/usr/bin/env python3
"""Acceptance: python-chess plays whole games through the relay on simulated boards that sense their pieces or squares.

A Chessnut Air, a Chessnut Move, a DGT board and a DGT Pegasus. Every table has a daemon, a board and a relay of its own, and the hand
is as fast as people are. Some boards lie the other way round, some hands slide the pieces. In each game there are take-backs, wrong
moves, lost links, power cycles, kills of the daemon. Every bestmove must be the hand's, the daemon may report no other, and the
PGN files must have each game as it was played. The last line is `N passed, M failed`.

Without options a short set is played, all of it at once. The file whole, on one kind: `--kind dgt --games 428 --parallel 24`.
"""

from __future__ import annotations

import argparse
import logging
import os
import queue
import random
import re
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from pathlib import Path

import chess
import chess.engine

from kept import Played, check_kept
from match import LIMITS, Match, Planned, Table
from rig import REPOSITORY, TAIL, BoardSpec, Clock, Daemon, Failed, Simulator, games_of

GAMES = REPOSITORY / "tests/games/lichess-428.uci"
CHESSNUT = "chessnut"
MOVE = "chessnut-move"
DGT = "dgt"
PEGASUS = "dgt-pegasus"
KINDS = [CHESSNUT, MOVE, DGT, PEGASUS]
# What its simulator is called, and by what name it is found on Bluetooth.
BOARDS = {
    CHESSNUT: ("chessnut-air", "Chessnut Air"),
    MOVE: ("chessnut-move", "Chessnut Move"),
    DGT: ("dgt-board", None),
    PEGASUS: ("dgt-pegasus", "DGT_Pegasus"),
}
# Pieces stand still for so long before they count, in milliseconds: the defaults of the daemon.
SETTLE = {CHESSNUT: 400, MOVE: 400, DGT: 400, PEGASUS: 1_000}
# Begun from a position: a pawn becomes each piece, by the program and by hand.
STUDY_FEN = "8/P1P5/7k/8/8/8/p1p4K/8 w - - 0 1"
STUDY = "a7a8n a2a1b c7c8r c2c1n c8h8 h6g5 a8b6 a1h8"
STUDY_2 = "c7c8q a2a1q a7a8b c2c1r c8c1 a1c1"
# The short set: short games, with castling to both sides and a promotion among them.
SHORT = [160, 67, 19]
# Seconds a link is lost, a board is off, or the daemon is dead.
AWAY = 1.0
# Seconds: the hand has let go, and whatever it left must have counted.
RESTED = 2.5
# What simulators tell of beside moves.
ASIDE = ("  (", "off", "on", "plugged", "unplugged", "lit", "clock", "beeped", "hung-up")
BY_HAND = re.compile(r"ply (\d+): (\w+), by hand")
PROMOTIONS = {chess.QUEEN: "queen", chess.ROOK: "rook", chess.BISHOP: "bishop", chess.KNIGHT: "knight"}


class Hand(Simulator):
    """The board, and the hand above it. Nothing is known of its pieces but what it reports."""

    aside = ("  (",)

    def __init__(self, folder: Path, spec: BoardSpec, clock: Clock) -> None:
        super().__init__(folder, spec, clock)
        # It is plugged in more than once. A simulated DGT board loses bytes when a machine is late for a moment: they are said again.
        self.aside = (*ASIDE, "lost") if spec.kind == DGT else ASIDE

    def order(self, *orders: str) -> None:
        """Tells the hand what to do."""
        for order in orders:
            self.log.note(f"  (hand: {order})")
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("".join(order + "\n" for order in orders))
            self._process.stdin.flush()
        except OSError as error:
            raise Failed(f"the simulator is gone: {error}") from error

    def _follow(self, report: str) -> None:
        if report.startswith(("lost", "fault")):
            raise Failed(f"the board reports: {report}")

    @property
    def lit_move(self) -> str | None:
        """The move that the board shows now."""
        for line in reversed(self.log.lines()):
            word, _, rest = line.partition(" ")
            if word == "shown":
                return rest
            if self.spec.ble_name and word in ("unplugged", "off"):
                return None
            if line in ("lit", "clock times") or word in ("made", "executed", "took-back", "new-game", "set-up"):
                return None
        return None


class Waiting(Clock):
    """As fast as people are, or a little faster."""

    @property
    def patience(self) -> float:
        """Seconds any single thing may take: a hand that clears the board and sets it up takes longest."""
        return 60.0


@dataclass
class SensedMatch(Match):
    """A game under way on a board that senses its pieces."""

    motor: bool = False
    fresh: bool = False
    dice: random.Random = field(default_factory=random.Random)
    speed: float = 1.0
    happened: int = 0
    # The board has just been found.
    greeted: bool = False

    @property
    def squares_only(self) -> bool:
        """Whether the board cannot tell the pieces apart."""
        return self.table.spec.kind == PEGASUS

    def rests(self, seconds: float = RESTED) -> None:
        """The hand has let go."""
        time.sleep(seconds)

    # What is expected.

    def sees(self, wanted: str, then: str | None = None) -> None:
        """The next report that is not a shown move is this; `then`, if it was refused because another move is shown, is ordered once."""
        while True:
            report = self.simulator.report(self.patience)
            if report == wanted or (wanted.endswith(" ") and report.startswith(wanted)):
                return
            if report.startswith("refused") and then is not None:
                self.simulator.order(then)
                then = None
                continue
            if not report.startswith("shown "):
                raise Failed(f"`{wanted}` was expected of the board, `{report}` came")

    def sees_shown(self, move: chess.Move) -> None:
        """The board shows this move. Lamps do not tell what a pawn becomes."""
        wanted = move.uci()
        until = time.monotonic() + self.patience
        while self.simulator.lit_move not in (wanted, wanted[:4] + "q" if move.promotion else wanted):
            if time.monotonic() > until:
                raise Failed(f"{wanted} was to be shown, {self.simulator.lit_move} is")
            # A board of squares also lights a promoted pawn that it cannot know to have been replaced: the words are clear.
            if self.squares_only and time.monotonic() > until - self.patience + 5 and self.has_promoted:
                self.simulator.order(f"hear {wanted}")
                self.rests(0.2)
            time.sleep(0.02)

    def told_to_move_at(self, ply: int, since: int) -> None:
        """The player was told whose turn it is after so many plies."""
        self.told(f"{chess.COLOR_NAMES[self.position(ply).turn].capitalize()} to move on the board", since)

    @property
    def has_promoted(self) -> bool:
        """Whether a pawn was promoted by one of the last two moves."""
        return any(move.promotion for move in self.moves[max(0, self.ply - 2) : self.ply])

    def judge(self, whole: bool) -> None:
        """Nothing but the hand's moves was reported since this was last asked: those of the game, or none."""
        lines = self.table.daemon.log.lines()
        about, self.table.judged = lines[self.table.judged :], len(lines)
        for line in about:
            found = BY_HAND.search(line)
            if not found:
                continue
            ply, move = int(found[1]), found[2]
            # A hand that makes the program's move again after it took it back has made it.
            if not whole or ply > len(self.moves) or self.moves[ply - 1].uci() != move:
                raise Failed(f"a false report: {found[0]}")

    # What the hand does.

    def makes(self, move: chess.Move) -> None:
        """The hand makes a move of its own. If the board asks for just that one, it is the one that is shown."""
        uci = move.uci()
        self.promotes(move)
        if self.simulator.lit_move:
            self.simulator.order(f"hear {uci}", "execute")
            self.sees(f"executed {uci}")
            self.lets_count(move)
        else:
            self.simulator.order(uci)
            while True:
                report = self.simulator.report(self.patience)
                if report in (f"made {uci}", f"executed {uci}"):
                    self.lets_count(move)
                    return
                if report.startswith("refused") and "is shown" in report:
                    self.simulator.order(f"hear {uci}", "execute")
                elif not report.startswith("shown "):
                    raise Failed(f"`made {uci}` was expected of the board, `{report}` came")

    def promotes(self, move: chess.Move) -> None:
        """A board of squares is told by an option what a pawn becomes; python-chess would end the search for it."""
        if self.squares_only and move.promotion:
            engine = self.table.engine.protocol
            line = f"setoption name Promotion value {PROMOTIONS[move.promotion]}"
            engine.loop.call_soon_threadsafe(engine.send_line, line)
            self.rests(0.2)

    def executes(self) -> None:
        """The move that the board shows is made, by the hand or the motors."""
        move = self.moves[self.ply]
        if self.motor:
            self.sees(f"made {move.uci()}")
            # The hand keeps off until the board has seen that all have arrived.
            self.rests(0.6)
            return
        self.sees_shown(move)
        if move.promotion:
            self.simulator.order(f"hear {move.uci()}")
        self.simulator.order("execute")
        self.sees(f"executed {move.uci()}")
        self.lets_count(move)

    def lets_count(self, move: chess.Move) -> None:
        """A promotion on a board of squares must count before the next move begins. So must a move that is made while the board is
        greeted: it then shows its squares now and again only."""
        if self.squares_only and (move.promotion or self.greeted):
            self.rests(2 * RESTED)
            self.greeted = False

    def takes_back(self, *plies: int) -> None:
        """The hand takes these moves back, or the motors do."""
        for ply in plies:
            if not self.motor:
                self.simulator.order("take-back")
            self.sees(f"took-back {self.move(ply)}")
            if not self.motor:
                self.rests(self.dice.uniform(0.1, 1.5))

    def puts_up(self, ply: int) -> None:
        """The pieces are put up as after so many plies, by the hand or the motors."""
        position = self.position(ply)
        if self.motor:
            # What they did was told, move by move or as a new game.
            self.rests(0.5)
            self.simulator.skip()
        start = ply == 0 and self.start.fen() == chess.STARTING_FEN
        self.simulator.order("new-game" if start else f"set-up {position.fen()}")
        while True:
            report = self.simulator.report(3 * self.patience)
            if report.startswith(("new-game", "set-up ")):
                return
            if not report.startswith(("shown ", "took-back ")):
                raise Failed(f"the pieces were put up, `{report}` came")

    # The game.

    def _begin(self) -> None:
        self.judge(whole=False)
        since = self.mark()
        hand_first = self.start.turn != self.gui
        from_position = self.start.fen() != chess.STARTING_FEN
        first = 0 if hand_first else 1
        puts_first = not self.fresh and not self.motor and not from_position and self.dice.random() < 0.5
        if puts_first:
            self.puts_up(0)
            self.judge(whole=False)
            self.rests(self.dice.uniform(0, 3))
            since = self.mark()
        if not hand_first and not from_position and self.dice.random() < 0.5:
            # As GUIs begin: the board is given the position after their first move.
            self.think(1)
            if not self.fresh and not puts_first:
                if self.motor:
                    self.told_to_move_at(1, since)
                if self.squares_only:
                    self.puts_up(0)
                    self.executes()
                else:
                    self.puts_up(1)
                self.ply = 1
                self.told_to_move(since)
            return
        if hand_first:
            self.think(0)
        else:
            self.analyse(0)
        must_stand = (from_position or not self.fresh) and not puts_first
        if must_stand:
            if self.motor:
                self.told_to_move(since)
            self.puts_up(0)
        if not hand_first:
            self.told_to_move(since)
            self.stop_analysis()
            self.think(1)
        else:
            self.told_to_move(since)

    def _gui_moves(self) -> None:
        if self.ply > 0:
            self.think(self.ply + 1)
        before = self.ply
        if not self.motor:
            self.sees_shown(self.moves[self.ply])
            self._happens("shown")
        if self.ply == before:
            self.executes()
            self.ply += 1

    def _hand_moves(self) -> None:
        if self.ply > 0 and self._happens("hand"):
            return
        # Some replies come at once, some after a while.
        if self.motor or self.dice.random() < 0.6:
            self.rests(self.dice.uniform(0, 1.2) / self.speed)
        self.makes(self.moves[self.ply])
        self.answered(self.moves[self.ply])
        self.ply += 1

    def _happens(self, moment: str) -> bool:
        """Lets a scenario happen whose moment has come. A board of squares must have seen what was captured."""
        due = [plan for plan in self.planned if plan.moment == moment and plan.ply <= self.ply]
        if due and self.squares_only and due[0].run in UNSEEN:
            if self.position(self.ply).is_capture(self.moves[self.ply]):
                return False
            self.rests(1.5)
        self.happened += len(due[:1])
        return super()._happens(moment)

    def _end(self) -> None:
        # Not every game has a moment for everything.
        self.planned.clear()
        super()._end()
        self.rests()
        self.judge(whole=True)

    # The link and the power.

    def answers_again(self, since: int) -> None:
        """The daemon has the board again."""
        self.told("the board answers", since)
        self.greeted = True

    def nothing_reported(self) -> None:
        """The program was not told a move."""
        if self.answer is not None and self.answer.done():
            raise Failed(f"{self.answer.result().move} was reported, and was not made")


# What happens beside the moves. The GUI is to move, nothing is awaited.


def take_back_by_gui(match: SensedMatch) -> None:
    """The GUI takes two plies back and looks at the position; the hand obeys, or the motors. The game goes on from there."""
    back, since = match.ply - 2, match.mark()
    match.analyse(back)
    if not match.motor:
        match.told(" back", since)
        match.rests(match.dice.uniform(0, 1))
    match.takes_back(match.ply - 1, match.ply - 2)
    match.ply = back
    match.told_to_move(since)
    match.stop_analysis()
    if back == 0:
        match.think(1)


def take_back_by_hand(match: SensedMatch) -> None:
    """The hand takes back what was reported, rests, and makes it again."""
    move = match.moves[match.ply - 1]
    match.simulator.order("take-back")
    match.sees(f"took-back {move.uci()}")
    match.rests()
    match.makes(move)


def jump_ahead(match: SensedMatch) -> None:
    """The GUI plays three plies by itself (an opening book): the hand makes them one after the other."""
    since = match.mark()
    match.think(match.ply + 3)
    for _ in range(3):
        match.executes()
        match.ply += 1
    match.told_to_move(since)


def link_lost_before_the_move(match: SensedMatch) -> None:
    """The GUI moves while the link is lost."""
    match.simulator.order("unplug")
    match.rests(AWAY)
    since = match.mark()
    match.think(match.ply + 1)
    match.rests(AWAY)
    match.simulator.order("plug")
    match.answers_again(since)
    match.executes()
    match.ply += 1


# A move is shown and not executed yet.


def other_move(match: SensedMatch) -> chess.Move | None:
    """A quiet move of another piece than the one shown."""
    position, shown = match.position(match.ply), match.moves[match.ply]
    touched = {shown.from_square, shown.to_square}
    others = [
        move
        for move in position.legal_moves
        if not position.is_capture(move)
        and not position.is_castling(move)
        and not move.promotion
        and not touched & {move.from_square, move.to_square}
    ]
    if not others:
        return None
    return match.dice.choice(sorted(others, key=chess.Move.uci))


def other_move_shown(match: SensedMatch) -> None:
    """The hand makes another move than the shown one, rests, and puts the piece back."""
    move = other_move(match)
    if move is None:
        return
    other = move.uci()
    match.simulator.order(f"wrong {other}")
    match.sees(f"wrong {other}")
    match.rests()
    match.simulator.order("take-back")
    match.rests()


def link_lost_while_shown(match: SensedMatch) -> None:
    """The link is lost while a move is shown."""
    match.simulator.order("unplug")
    match.rests(AWAY)
    since = match.mark()
    match.simulator.order("plug")
    match.answers_again(since)


def executed_while_lost(match: SensedMatch) -> None:
    """The hand executes the shown move while the link is lost; lamps are out then, and it remembers."""
    uci = match.move(match.ply)
    match.simulator.order("unplug", f"hear {uci}", "execute")
    match.sees(f"executed {uci}")
    match.rests(AWAY)
    since = match.mark()
    match.simulator.order("plug")
    match.answers_again(since)
    match.ply += 1
    match.told_to_move(since)


def killed_while_shown(match: SensedMatch) -> None:
    """The daemon is killed while a move is shown, and the hand executes it meanwhile."""
    uci = match.move(match.ply)
    match.table.daemon.kill()
    match.rests(AWAY / 2)
    match.simulator.order(f"hear {uci}", "execute")
    match.sees(f"executed {uci}")
    since = match.mark()
    match.table.daemon.again()
    match.ply += 1
    match.told_to_move(since)


# The hand is to move, the GUI waits.


def wrong_place(match: SensedMatch) -> None:
    """The hand leaves a piece where it cannot go, and puts it back. The motors of a Move put it back by themselves."""
    position = match.position(match.ply)
    empty = [square for square in chess.SQUARES if not position.piece_at(square)]
    pieces = [square for square in chess.SQUARES if position.piece_at(square) and position.color_at(square) == position.turn]
    legal = {(move.from_square, move.to_square) for move in position.legal_moves}
    last = position.peek() if position.move_stack else None
    ways = [
        (from_square, to_square)
        for from_square in pieces
        for to_square in empty
        if (from_square, to_square) not in legal and (last is None or to_square != last.from_square)
    ]
    from_square, to_square = match.dice.choice(ways)
    wrong = chess.Move(from_square, to_square).uci()
    since = match.mark()
    match.simulator.order(f"wrong {wrong}")
    match.sees(f"wrong {wrong}")
    if match.motor and match.dice.random() < 0.5:
        match.rests(2 * RESTED)
        match.told_to_move(since)
    else:
        match.rests()
        match.simulator.order("take-back")
    match.rests()
    match.nothing_reported()


def changes_its_mind(match: SensedMatch) -> None:
    """The hand makes another legal move and takes it back before the piece has rested."""
    move = other_move(match)
    if move is None:
        return
    other = move.uci()
    match.simulator.order(f"wrong {other}", "take-back")
    match.sees(f"wrong {other}")
    match.rests()
    match.nothing_reported()


def take_back_own_by_hand(match: SensedMatch) -> None:
    """The hand takes back the GUI's move, which it had executed, and makes it again; or the motors do."""
    move = match.moves[match.ply - 1]
    since = match.mark()
    match.simulator.order("take-back")
    match.sees(f"took-back {move.uci()}")
    match.rests()
    match.nothing_reported()
    if match.motor:
        match.sees(f"made {move.uci()}")
        match.told_to_move(since)
    else:
        match.makes(move)


def take_back_while_waiting(match: SensedMatch) -> None:
    """The GUI takes its own move back while the hand is thinking."""
    waiting, since = match.answer, match.mark()
    assert waiting is not None
    match.analyse(match.ply - 1)
    try:
        result = waiting.result(match.patience)
        raise Failed(f"bestmove {result.move} of a search that was given up")
    except CancelledError:
        match.answer = None
    if not match.motor:
        match.told(" back", since)
    match.takes_back(match.ply - 1)
    match.ply -= 1
    match.told_to_move(since)
    match.stop_analysis()
    if match.ply == 0:
        match.think(1)


def link_lost(match: SensedMatch) -> None:
    """The link is lost for a while."""
    match.simulator.order("unplug")
    match.rests(AWAY)
    since = match.mark()
    match.simulator.order("plug")
    match.answers_again(since)
    match.rests(match.dice.uniform(0, RESTED))
    match.nothing_reported()


def link_flickers(match: SensedMatch) -> None:
    """The link is lost for a moment, and the hand moves at once."""
    move = match.moves[match.ply]
    match.simulator.order("unplug", "plug")
    match.makes(move)
    match.answered(move)
    match.greeted = True
    match.ply += 1


def moved_while_lost(match: SensedMatch) -> None:
    """The hand moves while the link is lost."""
    move = match.moves[match.ply]
    match.simulator.order("unplug")
    match.rests(match.dice.uniform(0, AWAY))
    match.makes(move)
    match.rests(match.dice.uniform(0, AWAY))
    match.simulator.order("plug")
    match.answered(move)
    match.greeted = True
    match.ply += 1


def lost_in_mid_move(match: SensedMatch) -> None:
    """The link is lost while the hand moves."""
    move = match.moves[match.ply]
    match.promotes(move)
    match.simulator.order(move.uci())
    match.rests(match.dice.uniform(0, 0.4))
    match.simulator.order("unplug")
    match.sees(f"made {move.uci()}")
    match.rests(match.dice.uniform(0, AWAY))
    match.simulator.order("plug")
    match.answered(move)
    match.greeted = True
    match.ply += 1


def power_cycle(match: SensedMatch) -> None:
    """The board is switched off and on; at times the hand moves meanwhile."""
    move = match.moves[match.ply]
    match.simulator.order("off")
    moves = match.dice.random() < 0.5
    match.rests(match.dice.choice((AWAY, 5 * AWAY)))
    if moves:
        match.makes(move)
    since = match.mark()
    match.simulator.order("on")
    # Nothing is lost with a board on a cable that was off for a moment.
    if match.table.spec.ble_name:
        match.answers_again(since)
    if moves:
        match.answered(move)
        match.ply += 1
    else:
        match.rests()
        match.nothing_reported()


def killed(match: SensedMatch) -> None:
    """`kill -9` of the daemon while the GUI waits."""
    match.table.daemon.kill()
    match.rests(AWAY / 2)
    since = match.mark()
    match.table.daemon.again()
    match.answers_again(since)
    match.rests(match.dice.uniform(0, RESTED))
    match.nothing_reported()


def moved_while_killed(match: SensedMatch) -> None:
    """`kill -9` of the daemon, and the hand moves before it is there again."""
    move = match.moves[match.ply]
    match.promotes(move)
    match.table.daemon.kill()
    match.rests(match.dice.uniform(0, AWAY))
    match.makes(move)
    match.table.daemon.again()
    match.answered(move)
    match.greeted = True
    match.ply += 1


def killed_in_mid_move(match: SensedMatch) -> None:
    """`kill -9` of the daemon while the hand moves."""
    move = match.moves[match.ply]
    match.promotes(move)
    match.simulator.order(move.uci())
    match.rests(match.dice.uniform(0, 1))
    match.table.daemon.kill()
    match.rests(match.dice.uniform(0, AWAY))
    match.table.daemon.again()
    match.sees(f"made {move.uci()}")
    match.answered(move)
    match.greeted = True
    match.ply += 1


SCENARIOS: list[tuple[str, Callable[[SensedMatch], None]]] = [
    ("gui", take_back_by_gui),
    ("hand", wrong_place),
    ("hand", moved_while_killed),
    ("shown", other_move_shown),
    ("hand", link_lost),
    ("hand", power_cycle),
    ("hand", take_back_own_by_hand),
    ("hand", killed_in_mid_move),
    ("hand", moved_while_lost),
    ("gui", take_back_by_hand),
    ("shown", killed_while_shown),
    ("hand", changes_its_mind),
    ("hand", take_back_while_waiting),
    ("hand", lost_in_mid_move),
    ("shown", executed_while_lost),
    ("gui", jump_ahead),
    ("hand", killed),
    ("gui", link_lost_before_the_move),
    ("shown", link_lost_while_shown),
    ("hand", link_flickers),
]
# The hand moves unseen. What captured, a board of squares cannot know then.
UNSEEN = {moved_while_lost, lost_in_mid_move, power_cycle, moved_while_killed, killed_in_mid_move, link_flickers}
# Of these so many happen in a game.
EACH = 4
# What needs a move that is shown.
BY_LAMPS = {"shown"}


def planned_for(number: int, moves: list[chess.Move], motor: bool, dice: random.Random) -> list[Planned]:
    """What happens in this game: all of them in turn, at chosen plies."""
    fit = [(moment, run) for moment, run in SCENARIOS if not (motor and moment in BY_LAMPS)]
    chosen = [fit[(number * EACH + index) % len(fit)] for index in range(EACH)]
    # None in the last moves: jumps need three, and a moment must come.
    plies = sorted(dice.randrange(3, max(4, len(moves) - 8)) for _ in chosen)
    return [
        Planned(run.__name__.replace("_", "-"), moment, ply, run)
        for ply, (moment, run) in zip(plies, chosen)
        if len(moves) >= 12
    ]


@dataclass
class Tally:
    """What was played."""

    passed: int = 0
    failed: int = 0
    games: int = 0
    plies: int = 0
    happened: int = 0
    slowest: float = 0.0
    lock: threading.Lock = field(default_factory=threading.Lock)


class SensedTable(Table):
    """A board with its daemon."""

    def __init__(self, folder: Path, spec: BoardSpec, clock: Clock, log_level: str) -> None:
        hand = Hand(folder, spec, clock)
        self.folder = folder
        # The daemon's log is judged from here on.
        self.judged = 0
        bluetooth = hand.place if spec.ble_name else None
        daemon = Daemon(folder, [spec], clock, bluetooth, log_level)
        super().__init__(spec, hand, daemon, clock)
        daemon.says(spec.name, "the board answers", 0, clock.patience)


@dataclass
class Work:
    """Games of one kind, to be played at some tables."""

    kind: str
    games: queue.Queue[tuple[str, int, list[chess.Move], chess.Board]]


def spec_of(kind: str, number: int, speed: float) -> BoardSpec:
    """A board of this kind; every other hand slides, and of four boards two lie the other way round."""
    keys = [f'settle = "{round(SETTLE[kind] / speed)}ms"'] if speed != 1 else []
    options = []
    turned = number % 4 in (1, 2)
    if turned:
        options.append("--turned")
    if number % 2 == 1:
        options.append("--slides")
    if kind == PEGASUS:
        keys.append('key = "53494D4B4559"')
        if turned:
            keys.append('orientation = "turned"')
    name = f"{kind.removeprefix('dgt-')}{number}"
    simulated, ble = BOARDS[kind]
    daemons = CHESSNUT if kind == MOVE else kind
    return BoardSpec(name, daemons, None, simulated, ble, tuple(keys), tuple(options))


class Player(threading.Thread):
    """Plays games at one table after the other: after a failure at a new one."""

    def __init__(self, work: Work, number: int, clock: Clock, folder: Path, tally: Tally, options: argparse.Namespace) -> None:
        super().__init__(daemon=True)
        self.work, self.number, self.clock, self.folder, self.tally, self.options = work, number, clock, folder, tally, options
        self.tables = 0

    def run(self) -> None:
        """The thread's work."""
        table: SensedTable | None = None
        played: list[Played] = []
        while True:
            try:
                title, number, moves, start = self.work.games.get_nowait()
            except queue.Empty:
                break
            began = time.monotonic()
            match: SensedMatch | None = None
            why = ""
            try:
                fresh = table is None
                if table is None:
                    played = []
                    table = self._table()
                dice = random.Random(number)
                gui = chess.WHITE if number % 2 else chess.BLACK
                motor = self.work.kind == MOVE
                planned = [] if title.startswith("study") else planned_for(number, moves, motor, dice)
                if self.options.calm:
                    planned = []
                match = SensedMatch(
                    table, moves, gui, LIMITS[number % len(LIMITS)], start=start, planned=planned, motor=motor,
                    fresh=fresh, greeted=fresh, dice=dice, speed=self.clock.speed,
                )  # fmt: skip
                names = " ".join(plan.name for plan in planned)
                title = f"{table.spec.name} {title} gui={chess.COLOR_NAMES[gui]} {len(moves)} plies {names}".rstrip()
                match.play()
                if left := [line for line in match.simulator.pending() if not line.startswith("shown ")]:
                    raise Failed(f"the board also reports {left}")
                played.append(Played(title, match.position(match.ply)))
            except Exception as error:  # other games are played all the same
                why = str(error) if isinstance(error, Failed) else traceback.format_exc()
                why = f"after {match.ply if match else 0} plies: {why}"
            with self.tally.lock:
                self.tally.slowest = max(self.tally.slowest, time.monotonic() - began)
                if why:
                    self.tally.failed += 1
                    print(f"FAILED {title} {why}")
                    if table is not None:
                        name = table.spec.name
                        print("\n".join(f"    {line}" for line in table.simulator.log.lines()[-2 * TAIL :]))
                        print("\n".join(f"    {line[:200]}" for line in table.daemon.tail(name)[-2 * TAIL :]))
                else:
                    self.tally.passed += 1
                    self.tally.games += 1
                    self.tally.plies += len(moves)
                    self.tally.happened += match.happened if match else 0
                    print(f"ok {title} {time.monotonic() - began:.0f} s")
                sys.stdout.flush()
            if why:
                self._close(table, played, failed=True)
                table = None
        self._close(table, played, failed=False)

    def _table(self) -> SensedTable:
        self.tables += 1
        folder = self.folder / f"{self.work.kind}-{self.number}-{self.tables}"
        folder.mkdir()
        spec = spec_of(self.work.kind, self.number, self.clock.speed)
        return SensedTable(folder, spec, self.clock, self.options.log_level)

    def _close(self, table: SensedTable | None, played: list[Played], failed: bool) -> None:
        """Nothing was lost or faulty, and the games kept are those that were played."""
        if table is None:
            return
        name = table.spec.name
        try:
            try:
                table.engine.close() if failed else table.close()
            except Exception:
                if not failed:
                    raise
            status = table.daemon.stop()
            bad = [line for line in table.simulator.log.lines() if line.startswith(("lost ", "fault "))]
            if table.spec.kind == DGT:
                bad = [line for line in bad if line.startswith("fault ")]
            if any("panicked" in line for line in table.daemon.log.lines()) or status != 0:
                bad.append(f"exit status {status}")
            if bad and not failed:
                raise Failed("; ".join(bad))
            count = check_kept(games_of(table.folder), name, played, failed)
            with self.tally.lock:
                self.tally.passed += 1
                print(f"ok {name} kept {count} games as they were played", flush=True)
        except Exception as error:
            why = str(error) if isinstance(error, Failed) else traceback.format_exc()
            with self.tally.lock:
                self.tally.failed += 1
                print(f"FAILED {name} at the end: {why}", flush=True)
        finally:
            table.simulator.stop()
            if self.options.logs:
                folder = Path(self.options.logs)
                (folder / f"{table.folder.name}.daemon").write_text("\n".join(table.daemon.log.lines()) + "\n")
                (folder / f"{table.folder.name}.board").write_text("\n".join(table.simulator.log.lines()) + "\n")


def games_for(options: argparse.Namespace, kind: str) -> list[tuple[str, int, list[chess.Move], chess.Board]]:
    """The games to be played on each kind."""
    lines = GAMES.read_text().splitlines()
    if options.games is None:
        numbers = SHORT
    else:
        numbers = [number for number in range(options.first, options.first + options.games) if number <= len(lines)]
    games = [(f"game {number}", number, lines[number - 1], chess.Board()) for number in numbers]
    if options.games is None or options.first == 1:
        studies = enumerate((STUDY, STUDY, STUDY_2, STUDY_2), 1)
        games += [(f"study {number}", number, text, chess.Board(STUDY_FEN)) for number, text in studies]
    return [
        (title, number, [chess.Move.from_uci(uci) for uci in text.split()], start) for title, number, text, start in games
    ]


def main() -> None:
    """Parses the command line and runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--games", type=int, metavar="N", help="N games of the file on each kind; otherwise the short set")
    parser.add_argument("--from", dest="first", type=int, default=1, metavar="N", help="the first of them, from 1")
    parser.add_argument("--kind", choices=KINDS, action="append", help="these only")
    parser.add_argument("--parallel", type=int, default=7, metavar="N", help="boards of each kind at a time")
    parser.add_argument("--speed", type=float, default=1, metavar="X", help="hands, boards and settle times so many times faster")
    parser.add_argument("--calm", action="store_true", help="nothing but moves happens")
    parser.add_argument("--logs", metavar="FOLDER", help="keep the logs of all boards and daemons there")
    options = parser.parse_args()
    options.log_level = os.environ.get("RUST_LOG", "boardbridge=info")
    logging.getLogger("asyncio").setLevel(logging.CRITICAL + 1)
    clock, began = Waiting(options.speed), time.monotonic()
    tallies: dict[str, Tally] = {}
    with tempfile.TemporaryDirectory(prefix="boardbridge-", ignore_cleanup_errors=True) as folder:
        players = []
        for kind in options.kind or KINDS:
            work = Work(kind, queue.Queue())
            for game in games_for(options, kind):
                work.games.put(game)
            tallies[kind] = Tally()
            for number in range(options.parallel):
                players.append(Player(work, number, clock, Path(folder), tallies[kind], options))
        for player in players:
            player.start()
        for player in players:
            player.join()
    passed = sum(tally.passed for tally in tallies.values())
    failed = sum(tally.failed for tally in tallies.values())
    for kind, tally in tallies.items():
        print(f"{kind}: {tally.games} games, {tally.plies} plies, {tally.happened} disturbances, {tally.failed} failed, the slowest {tally.slowest:.0f} s")
    load = f"{os.times().user + os.times().system:.0f} s here, {os.times().children_user + os.times().children_system:.0f} s in the others"
    print(f"{time.monotonic() - began:.0f} s, of processors {load}")
    print(f"{passed} passed, {failed} failed", flush=True)
    # A thread that hangs in python-chess must not keep the process.
    os._exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
