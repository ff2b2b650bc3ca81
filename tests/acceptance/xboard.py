#!/usr/bin/env python3
"""Acceptance: xboard plays two games in a row on a simulated Citrine, by polyglot and the relay.

A small engine plays White on xboard's side, the simulated hand Black. Short games: xboard takes each for a draw after a few
moves. The second must begin on the board as the first did, and every move must stand in both. Needs xboard, polyglot and Xvfb.
The last line is `N passed, M failed`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import chess
import chess.pgn

from restarts import CLOCK, ENGINE, Hand, polyglot
from rig import BOARDBRIDGE, CITRINE, TAIL, BoardSpec, Daemon, Failed

GAMES = 2
# Full moves after which xboard takes a game for a draw.
MOVES = 5
WAIT = 60.0
BOARD = BoardSpec("citrine", CITRINE)


def play(folder: Path, hand: Hand, daemon: Daemon) -> list[chess.pgn.Game]:
    """xboard's games."""
    engine = folder / "engine.py"
    engine.write_text(ENGINE)
    relay = polyglot(folder, "relay", f"{BOARDBRIDGE} uci --connect {daemon.address} --board {BOARD.name}")
    dice = polyglot(folder, "dice", f"{sys.executable} {engine}")
    kept = folder / "xboard.pgn"
    command = ["xvfb-run", "-a", "xboard", "-fcp", dice, "-scp", relay, "-sgf", str(kept), "-mg", str(GAMES), "-sameColorGames", str(GAMES)]
    command += ["-tc", "15", "-inc", "10", "-adjudicateDrawMoves", str(MOVES), "-matchPause", "1000", "-popupExitMessage", "false"]
    home = {**os.environ, "HOME": str(folder), "PATH": f"{os.environ['PATH']}:/usr/games"}
    subprocess.run(command, timeout=WAIT, env=home, check=True, capture_output=True, cwd=folder)
    games = []
    with kept.open() as text:
        while game := chess.pgn.read_game(text):
            games.append(game)
    return games


def check(games: list[chess.pgn.Game], hand: Hand) -> None:
    """Both games were played to the end that xboard gives them, and stand on the board."""
    if len(games) != GAMES or any(game.errors for game in games):
        raise Failed(f"xboard kept {len(games)} games")
    # What was made on the board, game by game.
    lines = hand.log.lines()
    begun = [number for number, line in enumerate(lines) if line == "new-game"]
    if len(begun) < GAMES - 1:
        raise Failed("no second game began on the board")
    parts = [lines[: begun[-1]], lines[begun[-1] :]]
    for number, (game, part) in enumerate(zip(games, parts), 1):
        board = game.end().board()
        if not board.is_game_over() and board.fullmove_number <= MOVES:
            raise Failed(f"game {number} ended after {board.ply()} plies: {game.headers['Result']}")
        made = [line.split()[1] for line in part if line.startswith(("made ", "executed "))]
        moves = [move.uci() for move in board.move_stack]
        # No engine is told of the move that ends a game.
        if made not in (moves, moves[:-1]):
            raise Failed(f"game {number}: {moves} in the program, {made} on the board")


def main() -> None:
    """Plays, and says what came of it."""
    if shutil.which("xboard", path=f"{os.environ['PATH']}:/usr/games") is None:
        print("xboard is not here: skipped")
        return
    began, passed = time.monotonic(), 0
    with tempfile.TemporaryDirectory(prefix="boardbridge-") as name:
        folder = Path(name)
        hand = Hand(folder, BOARD, ["--seed", "1"])
        daemon = Daemon(folder, [BOARD], CLOCK)
        games: list[chess.pgn.Game] = []
        try:
            games = play(folder, hand, daemon)
            check(games, hand)
            passed = 1
            plies = " and ".join(str(game.end().ply()) for game in games)
            print(f"ok xboard: {GAMES} games, {plies} plies, {time.monotonic() - began:.0f} s")
        except (Failed, OSError, subprocess.SubprocessError) as failure:
            print(f"FAILED xboard: {failure}")
            for log in [str(game).splitlines() for game in games] + [hand.log.lines(), daemon.log.lines()[-4 * TAIL :]]:
                print("\n".join(f"    {line[:200]}" for line in log) + "\n")
        finally:
            hand.stop()
            daemon.stop()
    print(f"{passed} passed, {1 - passed} failed")
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
