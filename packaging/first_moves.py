#!/usr/bin/env python3
"""The first moves of a game, from a GUI's side of the relay to a simulated board and back.

Starts a simulated home-made board on TCP, the daemon with a configuration to which that board is added, and the relay;
then plays Black against the simulated hand, which has White of tests/games/lichess.uci. With --connect only the relay is
started: the daemon and its board are elsewhere. Each command is words for the shell, so that it can be a program in a
chroot, in an emulator, under wine.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import IO

REPOSITORY = Path(__file__).resolve().parents[1]
GAME = (REPOSITORY / "tests/games/lichess.uci").read_text().splitlines()[0].split()


class Failed(Exception):
    """Something else happened than what must happen."""


class Process:
    """A program that is spoken to in lines; everything it prints is shown."""

    def __init__(self, name: str, command: list[str], patience: float) -> None:
        self.name, self.patience = name, patience
        self.lines: list[str] = []
        self.changed = threading.Condition()
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1
        )
        assert self.process.stdin and self.process.stdout
        self.input: IO[str] = self.process.stdin
        self.reader = threading.Thread(target=self.read, args=(self.process.stdout,), daemon=True)
        self.reader.start()
        self.seen = 0

    def read(self, output: IO[str]) -> None:
        for line in output:
            with self.changed:
                self.lines.append(line.rstrip())
                self.changed.notify_all()

    def say(self, line: str) -> None:
        self.input.write(line + "\n")
        self.input.flush()

    def hear(self, pattern: str) -> re.Match[str]:
        """The next line that has this, awaited."""
        until = time.monotonic() + self.patience
        with self.changed:
            while True:
                while self.seen < len(self.lines):
                    self.seen += 1
                    found = re.search(pattern, self.lines[self.seen - 1])
                    if found:
                        return found
                left = until - time.monotonic()
                if left <= 0 or (self.process.poll() is not None and not self.reader.is_alive()):
                    raise Failed(f"{self.name} did not say `{pattern}`; it said:\n" + "\n".join(self.lines[-25:]))
                self.changed.wait(min(left, 0.5))

    def end(self) -> None:
        try:
            self.input.close()
        except OSError:
            pass
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


def play(relay: Process, options: argparse.Namespace) -> None:
    """From ply `--from` on, `--plies` of them: the board has White."""
    relay.say("uci")
    relay.hear("^uciok")
    relay.say("isready")
    relay.hear("^readyok")
    if options.start == 0:
        relay.say("ucinewgame")
    for ply in range(options.start, options.start + options.plies, 2):
        played = GAME[:ply]
        relay.say("position startpos" + (" moves " + " ".join(played) if played else ""))
        relay.say("go wtime 900000 btime 900000")
        made = relay.hear("^bestmove (\\S+)")[1]
        if made != GAME[ply]:
            raise Failed(f"{made} came from the board, and {GAME[ply]} was made on it")
        print(f"  {ply // 2 + 1}. {made} by hand, {GAME[ply + 1]} by the program", flush=True)
    relay.say("quit")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--boardbridge", required=True, help="the program as it is started here")
    parser.add_argument("--daemon", help="the same for the daemon, if it differs")
    parser.add_argument("--relay", help="the same for the relay, if it differs")
    parser.add_argument("--config", type=Path, help="the configuration to which the board is added")
    parser.add_argument("--run-config", help="its name for the daemon, where that differs")
    parser.add_argument("--connect", help="a daemon that runs elsewhere")
    parser.add_argument("--start", type=int, default=0, metavar="PLY", help="the game is stated up to here")
    parser.add_argument("--plies", type=int, default=8, metavar="N")
    parser.add_argument("--patience", type=float, default=60, metavar="SECONDS", help="for each answer")
    options = parser.parse_args()
    program = shlex.split(options.boardbridge)
    processes: list[Process] = []

    def started(name: str, command: list[str]) -> Process:
        processes.append(Process(name, command, options.patience))
        return processes[-1]

    try:
        address = options.connect
        if address is None:
            hand = ["--game", str(REPOSITORY / "tests/games/lichess.uci"), "--plays", "white", "--hand-delay", "100ms"]
            board = started("the board", [*program, "simulate", "swpp-board", "--listen", "127.0.0.1:0", *hand])
            place = board.hear("^plugged (\\S+)")[1]
            usual = options.config.read_text() if options.config else ""
            text = re.sub(r'(?m)^listen = "127\.0\.0\.1:\d+"', 'listen = "127.0.0.1:0"', usual)
            text += f'\n[boards.diy]\nkind = "swpp"\ntcp = {{ address = "{place}" }}\n'
            with tempfile.TemporaryDirectory() as folder:
                file = Path(options.run_config or f"{folder}/boardbridge.toml")
                target = options.config.parent / "with-a-board.toml" if options.run_config else file
                target.write_text(text)
                daemon = started(
                    "the daemon",
                    [*(shlex.split(options.daemon) if options.daemon else program), "run", "--config", str(file)],
                )
                address = daemon.hear("uci listens at (\\S+)")[1]
                if options.run_config:
                    target.unlink()
        relay_program = shlex.split(options.relay) if options.relay else program
        play(started("the relay", [*relay_program, "uci", "--connect", address]), options)
        print("ok")
        return 0
    except (Failed, OSError) as failed:
        print(f"FAILED: {failed}", file=sys.stderr)
        for process in processes:
            print(f"-- the end of what {process.name} said", *process.lines[-15:], sep="\n", file=sys.stderr)
        return 1
    finally:
        for process in reversed(processes):
            process.end()


if __name__ == "__main__":
    sys.exit(main())
