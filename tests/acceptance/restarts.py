#!/usr/bin/env python3
"""Acceptance: the daemon is stopped and killed again and again, and no game is lost.

Two GUIs play on simulated boards, which live in processes of their own: python-chess whole games from a file, on a Citrine and a
UCB, xboard with polyglot against a small engine, on another UCB. The daemon is ended at random moments, by SIGTERM and by SIGKILL, and
started again after a while. Every move that a GUI gets must be the hand's, and no game may end before it is played. Needs xboard,
polyglot and Xvfb for the one, python-chess for the other. The last line is `N passed, M failed`.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import chess
import chess.engine
import chess.pgn

from rig import BOARDBRIDGE, CITRINE, REPOSITORY, TAIL, UCB, BoardSpec, Clock, Failed, Log, configuration, port_of

GAMES = REPOSITORY / "tests/games/lichess.uci"
CLOCK = Clock(20)
# Of each game, an even number: the hand plays Black and has the last move. (Playing White it would move before the daemon has
# opened the port, and a pseudo-terminal keeps what a cable loses.)
PLIES = 40
# Seconds one move may take: several restarts, and the positions that a UCB is given after each.
MOVE_WAIT = 30.0
LIMIT = chess.engine.Limit(white_clock=900, black_clock=900)
# Seconds the daemon is up and down, at most.
UP = 2.5
DOWN = 0.8
# More between two lines to a board than its simulator needs, for a loaded machine.
SLACK_MS = 60
HAND_DELAY = "60ms"
BOARDS = [BoardSpec("citrine", CITRINE), BoardSpec("ucb", UCB, 2), BoardSpec("xboard", UCB, 2)]
XBOARD = "xboard"
# Full moves after which xboard takes its game for a draw: a random hand does not win.
XBOARD_MOVES = 30
XBOARD_WAIT = 200.0


class Daemons:
    """`boardbridge run`, one after the other, at one port."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.address = f"127.0.0.1:{probe.getsockname()[1]}"
        text = configuration(folder, BOARDS, CLOCK).replace("127.0.0.1:0", self.address, 1)
        # A UCB's game cannot go on while the daemon is never up for so long.
        text = text.replace('setup_wait = "3000ms"', 'setup_wait = "400ms"')
        # Nothing here is about pacing, and a line that came too soon would be lost.
        gap = re.compile(r'^(\w*gap|second_send\w*) = "(\d+)ms"', re.MULTILINE)
        text = gap.sub(lambda found: f'{found[1]} = "{int(found[2]) + SLACK_MS}ms"', text)
        self._config = folder / "boardbridge.toml"
        self._config.write_text(text)
        self.log = Log()
        self.restarts = 0
        self._process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [BOARDBRIDGE, "run", "--config", str(self._config)],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "NO_COLOR": "1", "RUST_LOG": "boardbridge=debug"},
        )
        assert process.stderr is not None
        self.log = Log()
        self.log.follow(process.stderr)
        return process

    def restart(self, dice: random.Random) -> None:
        """Ends the daemon in one way or the other, and starts it again."""
        how = dice.choice([signal.SIGTERM, signal.SIGKILL])
        self._process.send_signal(how)
        status = self._process.wait(10)
        # One that is still starting may not have learnt of signals yet.
        if status not in (0, -how):
            raise Failed(f"the daemon ended with status {status}")
        time.sleep(dice.uniform(0, DOWN))
        self._process = self._start()
        self.restarts += 1

    def stop(self) -> None:
        """Ends it for good."""
        self._process.terminate()
        self._process.wait(10)


class Hand:
    """A simulated board and a hand that plays Black by itself."""

    def __init__(self, folder: Path, spec: BoardSpec, player: list[str]) -> None:
        command = [BOARDBRIDGE, "simulate", spec.kind, "--link", str(port_of(folder, spec.name))]
        command += ["--speed", str(CLOCK.speed), "--hand-delay", HAND_DELAY, "--plays", "black", *player]
        if spec.position_format is not None:
            command += ["--position-format", str(spec.position_format)]
        self.log = Log()
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.log.follow(self.process.stdout)
        if self.log.find(lambda line: line.startswith("plugged"), 0, 20) is None:
            raise Failed(f"{spec.name}: no pseudo-terminal")

    def position(self) -> str:
        """How the pieces stand, by the board's reports."""
        board = chess.Board()
        for line in self.log.lines():
            word, _, rest = line.partition(" ")
            match word:
                case "made" | "executed":
                    board.push_uci(rest)
                case "take-back" | "took-back":
                    if board.move_stack and board.peek().uci() == rest:
                        board.pop()
                case "new-game":
                    board.reset()
                case "set-up":
                    board = chess.Board(rest)
        return board.board_fen()

    def stop(self) -> None:
        """Ends it."""
        self.process.terminate()
        self.process.wait(10)


class Tally:
    """What passed and what failed, printed as it happens."""

    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0
        self._lock = threading.Lock()

    def ok(self, text: str) -> None:
        """Something passed."""
        with self._lock:
            self.passed += 1
            print(f"ok {text}", flush=True)

    def fail(self, text: str, why: str, *logs: list[str]) -> None:
        """Something failed."""
        with self._lock:
            self.failed += 1
            print(f"FAILED {text}: {why}")
            for log in logs:
                print("\n".join(f"    {line[:200]}" for line in log[-2 * TAIL :]) + "\n")
            sys.stdout.flush()


def play_game(daemons: Daemons, folder: Path, spec: BoardSpec, number: int, engine: chess.engine.SimpleEngine) -> str:
    """One whole game; a title."""
    whole = GAMES.read_text().splitlines()[number].split()
    # The hand leaves after the last move of its game: there is one more, for a daemon that comes later asks for those before.
    moves = whole[: min(PLIES, len(whole) - 1) // 2 * 2]
    file = folder / f"{spec.name}.uci"
    file.write_text(" ".join(whole) + "\n")
    before = daemons.restarts
    hand, pool = Hand(folder, spec, ["--game", str(file)]), ThreadPoolExecutor(max_workers=1)
    board, game = chess.Board(), object()
    try:
        for ply in range(1, len(moves), 2):
            board.push_uci(moves[ply - 1])
            result = pool.submit(engine.play, board, LIMIT, game=game).result(MOVE_WAIT)
            if result.move != chess.Move.from_uci(moves[ply]):
                raise Failed(f"ply {ply + 1}: {result.move} came, {moves[ply]} was played by {hand.log.lines()[-TAIL:]}")
            board.push_uci(moves[ply])
    except chess.engine.EngineError as error:
        raise Failed(f"after {board.ply()} plies: {error}; the board: {hand.log.lines()[-TAIL:]}") from error
    except TimeoutError as error:
        raise Failed(f"nothing after {board.ply()} plies; the board: {hand.log.lines()[-TAIL:]}") from error
    finally:
        pool.shutdown(wait=False)
        hand.stop()
    return f"{spec.name}: {len(moves)} plies, every move exact, through {daemons.restarts - before} restarts"


def play_games(daemons: Daemons, folder: Path, spec: BoardSpec, wanted: int, tally: Tally) -> None:
    """Games on one board until the daemon has been restarted so often."""
    command = [BOARDBRIDGE, "uci", "--connect", daemons.address, "--board", spec.name]
    number = 0
    while daemons.restarts < wanted:
        try:
            with chess.engine.SimpleEngine.popen_uci(command, timeout=MOVE_WAIT) as engine:
                # One engine for all games, as a GUI has it.
                while daemons.restarts < wanted:
                    number += 1
                    tally.ok(play_game(daemons, folder, spec, number, engine))
        except Exception as failure:
            tally.fail(f"{spec.name}, game {number}", f"{type(failure).__name__}: {failure}", daemons.log.lines())
            return


ENGINE = '''
import random, sys
import chess

dice, board = random.Random(1), chess.Board()
for line in sys.stdin:
    words = line.split()
    if words[:1] == ["uci"]:
        print("id name dice\\nid author a test\\nuciok", flush=True)
    elif words[:1] == ["isready"]:
        print("readyok", flush=True)
    elif words[:1] == ["position"]:
        split = words.index("moves") if "moves" in words else len(words)
        board = chess.Board() if words[1] == "startpos" else chess.Board(" ".join(words[2:split]))
        for move in words[split + 1 :]:
            board.push_uci(move)
    elif words[:1] == ["go"]:
        print("bestmove", dice.choice(list(board.legal_moves)).uci(), flush=True)
    elif words[:1] == ["quit"]:
        break
'''


def polyglot(folder: Path, name: str, command: str) -> str:
    """How xboard starts a UCI engine."""
    file = folder / f"{name}.ini"
    file.write_text(f"[PolyGlot]\nEngineDir = {folder}\nEngineCommand = {command}\nPonder = false\n[Engine]\n")
    return f"polyglot {file}"


def play_xboards(daemons: Daemons, folder: Path, spec: BoardSpec, wanted: int, tally: Tally) -> None:
    """xboard's games until the daemon has been restarted so often."""
    number = 0
    while daemons.restarts < wanted and tally.failed == 0:
        number += 1
        play_xboard(daemons, folder, spec, number, tally)


def play_xboard(daemons: Daemons, folder: Path, spec: BoardSpec, number: int, tally: Tally) -> None:
    """One game of xboard's, to the end that xboard sees."""
    engine = folder / "engine.py"
    engine.write_text(ENGINE)
    relay = polyglot(folder, "relay", f"{BOARDBRIDGE} uci --connect {daemons.address} --board {spec.name}")
    dice = polyglot(folder, "dice", f"{sys.executable} {engine}")
    kept = folder / f"xboard{number}.pgn"
    hand = Hand(folder, spec, ["--seed", str(number)])
    before = daemons.restarts
    command = ["xvfb-run", "-a", "xboard", "-fcp", dice, "-scp", relay, "-mg", "1", "-sgf", str(kept)]
    command += ["-tc", "60", "-inc", "10", "-adjudicateDrawMoves", str(XBOARD_MOVES)]
    # Else it waits for somebody to read the result.
    command += ["-popupExitMessage", "false"]
    home = {**os.environ, "HOME": str(folder), "PATH": f"{os.environ['PATH']}:/usr/games"}
    title = f"{spec.name} + polyglot"
    try:
        subprocess.run(command, timeout=XBOARD_WAIT, env=home, check=True, capture_output=True, cwd=folder)
        with kept.open() as text:
            game = chess.pgn.read_game(text)
        if game is None or game.errors:
            raise Failed("xboard kept no game")
        board = game.end().board()
        why = f"{game.headers['Result']}, {game.end().comment or game.comment}"
        over = board.is_game_over() or board.fullmove_number > XBOARD_MOVES
        if not over:
            raise Failed(f"lost after {board.ply()} plies: {why}")
        last = board.copy()
        if last.turn == chess.BLACK:
            last.pop()  # No engine is told of the move that ends a game.
        if hand.position() not in (board.board_fen(), last.board_fen()):
            raise Failed(f"{board.board_fen()} in the program, {hand.position()} on the board")
        tally.ok(f"{title}: {board.ply()} plies, {why}, through {daemons.restarts - before} restarts")
    except (Failed, OSError, subprocess.SubprocessError) as failure:
        text = kept.read_text() if kept.exists() else "no PGN"
        tally.fail(title, f"{failure}", text.splitlines(), hand.log.lines(), daemons.log.lines())
    finally:
        hand.stop()


def main() -> None:
    """Parses the command line and runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    names = [spec.name for spec in BOARDS]
    parser.add_argument("--restarts", type=int, default=50, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--board", choices=names, action="append", help="these boards only")
    arguments = parser.parse_args()
    tally, dice, began = Tally(), random.Random(arguments.seed), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="boardbridge-") as name:
        folder = Path(name)
        daemons = Daemons(folder)
        threads = []
        for spec in BOARDS:
            if spec.name not in (arguments.board or names):
                continue
            if spec.name != XBOARD:
                work = (daemons, folder, spec, arguments.restarts, tally)
                threads.append(threading.Thread(target=play_games, args=work, daemon=True))
            elif shutil.which("xboard", path=f"{os.environ['PATH']}:/usr/games") is None:
                print("xboard is not here: skipped")
            else:
                work = (daemons, folder, spec, arguments.restarts, tally)
                threads.append(threading.Thread(target=play_xboards, args=work, daemon=True))
        for thread in threads:
            thread.start()
        while daemons.restarts < arguments.restarts and any(thread.is_alive() for thread in threads):
            time.sleep(dice.uniform(0, UP))
            daemons.restart(dice)
        for thread in threads:
            thread.join(XBOARD_WAIT)
            if thread.is_alive():
                tally.fail("a game", "it does not end", daemons.log.lines())
        daemons.stop()
        print(f"{daemons.restarts} restarts, {time.monotonic() - began:.0f} s")
        print(f"{tally.passed} passed, {tally.failed} failed", flush=True)
    # A thread that hangs in python-chess must not keep the process.
    os._exit(1 if tally.failed or not tally.passed else 0)


if __name__ == "__main__":
    main()
