#!/usr/bin/env python3
"""The wall in a real browser: many home-made boards on which a hand moves once a second, each with a chess program.

Every move must reach the page, in order, and be drawn; every picture must be right at the end, piece by piece, and one board be marked as the
one that moved last. The daemon must take less than a tenth of a processor.

    BOARDBRIDGE=target/release/boardbridge tests/page/wall.py [--boards 300] [--plies 40]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import resource
import shutil
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import chess
from run import BOARDBRIDGE, DESK, Page, Program, free_port, until
from selenium.webdriver.common.keys import Keys

# Seconds from one move of a hand to its next.
PACE = 1.0
# A hand that is late on a busy machine makes up for it, but moves no sooner than this after the program has said that it waits.
LEAST = 0.1
# What the page was told and what it drew of each board, noted before its own script runs.
NOTED = """
window.noted = { told: {}, pictures: 0 };
window.EventSource = class extends EventSource {
  constructor(url) {
    super(url);
    this.addEventListener("message", (message) => {
      const line = JSON.parse(message.data);
      if (line.board !== undefined && line.ply !== undefined) (noted.told[line.board] ??= []).push(line.ply);
    });
  }
};
new MutationObserver((changes) => { noted.pictures += changes.length; })
  .observe(document, { subtree: true, attributes: true, attributeFilter: ["data-ply"] });
"""
# What a small picture shows: pieces by their squares, and the squares of the last move.
SHOWN = """
return [...document.querySelectorAll('.tile')].map((tile) => {
  const at = (element) => "abcdefgh"[Math.floor(element.getAttribute("x") / 100)] + (8 - Math.floor(element.getAttribute("y") / 100));
  const piece = (use) => use.classList.contains("w") ? use.getAttribute("href")[1].toUpperCase() : use.getAttribute("href")[1];
  return {
    pieces: Object.fromEntries([...tile.querySelectorAll("use")].map((use) => [at(use), piece(use)])),
    last: [...tile.querySelectorAll(".last")].filter((mark) => mark.getAttribute("visibility") === "visible").map(at).join(""),
  };
});
"""


def picture(moves: list[str]) -> dict[str, object]:
    """What a small picture must show after these moves."""
    board = chess.Board()
    for move in moves:
        board.push_uci(move)
    return {"pieces": {chess.square_name(square): piece.symbol() for square, piece in board.piece_map().items()}, "last": moves[-1]}


def game(plies: int) -> list[str]:
    """A game of so many plies that no rule ends, the same in every run."""
    dice = random.Random(1)
    while True:
        board = chess.Board()
        while len(board.move_stack) < plies and not board.is_game_over(claim_draw=True):
            board.push(dice.choice([move for move in board.legal_moves if move.promotion is None and not board.is_castling(move)]))
        if len(board.move_stack) == plies and not board.is_game_over(claim_draw=True):
            return [move.uci() for move in board.move_stack]


class Table:
    """A hand at a home-made board that moves both colours, and the program that awaits it."""

    def __init__(self, name: str, moves: list[str]) -> None:
        self.name, self.moves, self.ply = name, moves, 0
        self.board: asyncio.StreamWriter | None = None
        self.begun = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The board's end of a connection."""
        self.board = writer
        while line := await reader.readline():
            if line.startswith(b"H0"):
                writer.write(f"H101{'1.0':>8}{self.name}\n".encode())
            elif line.startswith(b"NG"):
                self.begun.set()

    async def play(self, port: int, start: asyncio.Event, dice: random.Random) -> None:
        """The whole game: a move once a second, each answered."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"uci\nsetoption name Board value {self.name}\nucinewgame\nposition startpos\ngo\n".encode())
        await self.begun.wait()
        await start.wait()
        await asyncio.sleep(dice.uniform(0, PACE))
        due = time.monotonic()
        for ply, move in enumerate(self.moves):
            assert self.board is not None
            self.board.write(f"MB{move:>5}\n".encode())
            while not (line := await reader.readline()).startswith(b"bestmove"):
                assert line, f"{self.name} after {ply} plies: the connection is gone"
            assert line.split()[1].decode() == move, (self.name, ply, line)
            self.ply = ply + 1
            if self.ply < len(self.moves):
                writer.write(f"position startpos moves {' '.join(self.moves[: self.ply])}\ngo\n".encode())
            due += PACE
            await asyncio.sleep(max(LEAST, due - time.monotonic()))


class Hall(threading.Thread):
    """All tables, on a thread of their own."""

    def __init__(self, tables: list[Table]) -> None:
        super().__init__(daemon=True)
        self.tables, self.loop = tables, asyncio.new_event_loop()
        self.start_event = asyncio.Event()
        self.ports: list[int] = []
        self.failure: BaseException | None = None
        self.listening = threading.Event()
        self.start()

    def run(self) -> None:
        self.loop.run_until_complete(self._listen())
        self.loop.run_forever()

    async def _listen(self) -> None:
        for table in self.tables:
            server = await asyncio.start_server(table.serve, "127.0.0.1", 0)
            self.ports.append(server.sockets[0].getsockname()[1])
        self.listening.set()

    def plays(self, port: int) -> asyncio.Future[None]:
        """The programs connect, and wait for the start."""

        async def all_of_them() -> None:
            dice = random.Random(2)
            await asyncio.gather(*(table.play(port, self.start_event, dice) for table in self.tables))

        return asyncio.run_coroutine_threadsafe(all_of_them(), self.loop)

    def begins(self) -> None:
        """The hands begin to move."""
        self.loop.call_soon_threadsafe(self.start_event.set)


def cpu(pid: int) -> float:
    """Seconds of a processor that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--boards", type=int, default=300)
    options.add_argument("--plies", type=int, default=40)
    options.add_argument("--picture", type=Path, help="a PNG of the wall at the end")
    chosen = options.parse_args()
    # Three sockets of ours a board.
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    moves = game(chosen.plies)
    tables = [Table(f"b{number}", moves) for number in range(1, chosen.boards + 1)]
    hall = Hall(tables)
    hall.listening.wait()
    folder = Path(tempfile.mkdtemp())
    uci, web = free_port(), free_port()
    text = f'[uci]\nlisten = "127.0.0.1:{uci}"\n[web]\nlisten = "127.0.0.1:{web}"\n[status]\nlisten = "off"\n'
    text += f'[livechess]\nlisten = "off"\n[games]\ndirectory = "off"\n[state]\ndirectory = "{folder / "state"}"\n'
    for table, port in zip(tables, hall.ports, strict=True):
        text += f'[boards.{table.name}]\nkind = "swpp"\ntcp = {{ address = "127.0.0.1:{port}" }}\n'
    (folder / "hall.toml").write_text(text)
    daemon = Program([BOARDBRIDGE, "run", "--config", str(folder / "hall.toml")], folder / "log", RUST_LOG="warn")
    try:
        until("the page", lambda: answers(web))
        page = Page(f"http://127.0.0.1:{web}/#wall", DESK, script=NOTED)
        js = page.driver.execute_script
        tiles = "return document.querySelectorAll('.tile[data-ply]').length"
        until("all boards on the wall", lambda: js(tiles) == len(tables))
        games = hall.plays(uci)
        until("all games", lambda: games.done() or all(table.begun.is_set() for table in tables))
        before, began = cpu(daemon.process.pid), time.monotonic()
        hall.begins()
        games.result(timeout=chosen.plies * PACE + 60)
        seconds = time.monotonic() - began
        share = 100 * (cpu(daemon.process.pid) - before) / seconds
        last = "return [...document.querySelectorAll('.tile')].every((tile) => tile.dataset.ply === arguments[0])"
        until("the last move of every board", lambda: js(last, str(len(moves))))
        told = js("return window.noted.told")
        missed = sum(len(set(range(1, len(moves) + 1)) - set(told.get(table.name, []))) for table in tables)
        crossed = [table.name for table in tables if told[table.name] != sorted(told[table.name])]
        right = picture(moves)
        wrong = [(table.name, shown) for table, shown in zip(tables, js(SHOWN), strict=True) if shown != right]
        drawn, newest = js("return window.noted.pictures"), js("return document.querySelectorAll('.tile.newest').length")
        print(
            f"{len(tables)} boards, {len(moves)} plies each in {seconds:.0f} s: {len(tables) * len(moves)} moves, {missed} not told, "
            f"{drawn} pictures drawn, the daemon took {share:.1f} % of a processor (10 % is the aim)"
        )
        if chosen.picture:
            page.driver.save_screenshot(str(chosen.picture))
        js("document.getElementById('tile-b1').focus()")
        page.driver.switch_to.active_element.send_keys(Keys.ENTER)
        until("the board that is enlarged", lambda: js("return document.getElementById('big').open"))
        if chosen.picture:
            page.driver.save_screenshot(str(chosen.picture.with_suffix(".big.png")))
        assert missed == 0, "the page missed moves"
        assert not crossed, f"the page was told an older position after a newer one: {crossed}"
        assert not wrong, f"{len(wrong)} pictures are wrong, such as {wrong[0]}, instead of {right}"
        assert newest == 1, f"{newest} boards are marked as the one that moved last"
        page.close()
    except BaseException:
        print((folder / "log").read_text()[-3000:])
        raise
    finally:
        daemon.kill()
    shutil.rmtree(folder)


def answers(port: int) -> bool:
    """Whether the page is there."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5):
            return True
    except OSError:
        return False


if __name__ == "__main__":
    main()
