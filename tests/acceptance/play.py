#!/usr/bin/env python3
"""Acceptance: a chess GUI (python-chess) plays whole games on four simulated boards through the relay.

One daemon, a Citrine, two UCBs and a home-made board, each a simulator on a pseudo-terminal. Every move must be exact, no
command may be lost in pacing, and the PGN files the daemon keeps must have every game as it was played. The binary is $BOARDBRIDGE, or target/release/boardbridge of this repository.
Needs Python 3.11 and python-chess (requirements.txt). The last line is `N passed, M failed`.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

import chess
import chess.engine

from kept import Played, check_kept
from match import LIMITS, Match, Table
from rig import CITRINE, REPOSITORY, SWPP, TAIL, UCB, BoardSpec, Clock, Daemon, Failed, Simulator
from rig import games_of
from scenarios import planned_for

GAMES = REPOSITORY / "tests/games/lichess.uci"
# Each board with its lines of the file.
BOARDS: list[tuple[BoardSpec, slice]] = [
    (BoardSpec("citrine", CITRINE), slice(0, 20)),
    (BoardSpec("ucb1", UCB, position_format=1), slice(20, 30)),
    (BoardSpec("ucb2", UCB, position_format=2), slice(30, 40)),
    (BoardSpec("swpp", SWPP), slice(20, 30)),
]
# Begun from a position: under-promotions, which games hardly ever have, shown and by hand.
STUDY_FEN = "8/P1P5/7k/8/8/7K/p1p5/8 w - - 0 1"
STUDY = "a7a8n a2a1b c7c8r c2c1n c8h8 a1h8 h3g3 c1d3"
SCALED = 20
SCALED_TIMEOUT_S = 420.0


class Tally:
    """What passed and what failed, printed as it happens."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.passed = 0
        self.failed = 0
        # Every board's games that did not fail, first to last.
        self.played: dict[str, list[Played]] = {}

    def ok(self, text: str) -> None:
        """Something passed."""
        with self._lock:
            self.passed += 1
            print(f"ok {text}", flush=True)

    def fail(self, text: str, why: str, table: tuple[Simulator, Daemon] | None) -> None:
        """Something failed; the last lines of its board and of the daemon tell more."""
        with self._lock:
            self.failed += 1
            print(f"FAILED {text}: {why}")
            if table is not None:
                simulator, daemon = table
                name = simulator.spec.name
                print(f"  the board {name} and its hand, last {TAIL} lines:")
                print("\n".join(f"    {line}" for line in simulator.log.lines()[-TAIL:]))
                print(f"  the daemon on {name}, last {TAIL} lines:")
                print("\n".join(f"    {line[:200]}" for line in daemon.tail(name)))
            sys.stdout.flush()


def play_one(table: Table, match: Match, title: str, tally: Tally) -> None:
    """One game, whatever happens in it."""
    names = " ".join(planned.name for planned in match.planned)
    color = chess.COLOR_NAMES[match.gui]
    title = f"{table.spec.name} {title} gui={color} {len(match.moves)} plies {names}".rstrip()
    try:
        match.play()
        tally.ok(title)
        tally.played.setdefault(table.spec.name, []).append(Played(title, match.position(match.ply)))
    except Exception as error:  # a game that fails must not keep the others from being played
        why = str(error) if isinstance(error, Failed) else traceback.format_exc()
        tally.fail(f"{title} after {match.ply} plies", why, (table.simulator, table.daemon))
        table.recover()


def play_all(table: Table, games: list[str], tally: Tally) -> None:
    """All games of one board, and two from a position."""
    for number, line in enumerate(games, 1):
        moves = [chess.Move.from_uci(text) for text in line.split()]
        gui = chess.WHITE if number % 2 else chess.BLACK
        planned = planned_for(table.spec.name, number)
        match = Match(table, moves, gui, LIMITS[number % len(LIMITS)], planned=planned)
        play_one(table, match, f"game {number}", tally)
    # An SWPP board knows no positions: the player would have to set them up.
    studies = () if table.spec.kind == SWPP else (chess.WHITE, chess.BLACK)
    for number, gui in enumerate(studies, 1):
        moves = [chess.Move.from_uci(text) for text in STUDY.split()]
        match = Match(table, moves, gui, LIMITS[number], start=chess.Board(STUDY_FEN))
        play_one(table, match, f"study {number}", tally)
    table.close()


def run_board(table: Table, games: list[str], tally: Tally) -> None:
    """A thread's whole work."""
    try:
        play_all(table, games, tally)
    except Exception:
        tally.fail(table.spec.name, traceback.format_exc(), (table.simulator, table.daemon))


def check_quiet(simulator: Simulator, daemon: Daemon, tally: Tally) -> None:
    """Nothing was lost or faulty from first to last, and nothing unexpected came."""
    bad = [line for line in simulator.log.lines() if line.startswith(("lost ", "fault "))]
    bad += simulator.pending()
    if bad:
        tally.fail(f"{simulator.spec.name} pacing", "; ".join(bad), (simulator, daemon))
    else:
        tally.ok(f"{simulator.spec.name} lost nothing, reported no fault")


def run(arguments: argparse.Namespace, folder: Path, tally: Tally) -> None:
    """The whole set."""
    clock = Clock(1 if arguments.real_time else SCALED)
    lines = GAMES.read_text().splitlines()
    boards = [(spec, lines[which]) for spec, which in BOARDS if arguments.board in (None, spec.name)]
    simulators = [Simulator(folder, spec, clock) for spec, _ in boards]
    daemon = Daemon(folder, [spec for spec, _ in boards], clock)
    threads: list[threading.Thread] = []
    for simulator, (spec, games) in zip(simulators, boards):
        table = Table(spec, simulator, daemon, clock)
        work = (table, games[: arguments.games], tally)
        threads.append(threading.Thread(target=run_board, args=work, daemon=True))
    deadline = time.monotonic() + (float("inf") if arguments.real_time else SCALED_TIMEOUT_S)
    for thread in threads:
        thread.start()
    for thread, simulator in zip(threads, simulators):
        thread.join(None if arguments.real_time else max(0.0, deadline - time.monotonic()))
        if thread.is_alive():
            why = f"not done after {SCALED_TIMEOUT_S:.0f} s"
            tally.fail(simulator.spec.name, why, (simulator, daemon))
    # Time enough for a board to be led somewhere it should not be led.
    time.sleep(1.0 if not arguments.real_time else 20.0)
    for simulator in simulators:
        check_quiet(simulator, daemon, tally)
    status = daemon.stop()
    for simulator in simulators:
        name = simulator.spec.name
        try:
            count = check_kept(games_of(folder), name, tally.played.get(name, []))
            tally.ok(f"{name} kept {count} games as they were played")
        except Failed as failure:
            tally.fail(f"{name} games kept", str(failure), (simulator, daemon))
    if status != 0 or any("panicked" in line for line in daemon.log.lines()):
        tally.fail("daemon", f"exit status {status}", (simulators[0], daemon))
    for simulator in simulators:
        simulator.stop()


def main() -> None:
    """Parses the command line and runs."""
    names = [spec.name for spec, _ in BOARDS]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--games", type=int, metavar="N", help="at most N games on each board")
    parser.add_argument("--board", choices=names, help="this board only")
    parser.add_argument(
        "--real-time", action="store_true", help="boards as slow as real ones, default pacing: takes hours"
    )
    arguments = parser.parse_args()
    # What asyncio says of a relay that was killed after a failure does not help.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL + 1)
    tally = Tally()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="boardbridge-") as folder:
        try:
            run(arguments, Path(folder), tally)
        except (Failed, OSError, chess.engine.EngineError) as failure:
            tally.fail("the rig", str(failure), None)
    print(f"{time.monotonic() - began:.0f} s")
    print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    # A thread that hangs in python-chess must not keep the process.
    os._exit(1 if tally.failed or not tally.passed else 0)


if __name__ == "__main__":
    main()
