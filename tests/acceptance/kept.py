"""The games the daemon kept as PGN, read by python-chess, against those that were played."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import chess
import chess.pgn

from rig import Failed

ROSTER = ["Event", "Site", "Date", "Round", "White", "Black", "Result"]


@dataclass
class Played:
    """A game that was played to its end without a failure."""

    title: str
    last: chess.Board


def kept(folder: Path, board: str) -> list[chess.pgn.Game]:
    """The board's games, first to last."""
    name = re.compile(rf"(\d{{4}}-\d\d-\d\d_\d{{6}})_{re.escape(board)}_(\d+)\.pgn")
    found = []
    for file in folder.iterdir():
        match = name.fullmatch(file.name)
        if match:
            found.append((match[1], int(match[2]), file))
    games = []
    for _, _, file in sorted(found):
        with file.open(encoding="ascii") as text:
            game = chess.pgn.read_game(text)
            if game is None or chess.pgn.read_game(text) is not None:
                raise Failed(f"{file.name} has not exactly one game")
        if game.errors:
            raise Failed(f"{file.name}: {game.errors}")
        if list(game.headers)[: len(ROSTER)] != ROSTER:
            raise Failed(f"{file.name} has the tags {list(game.headers)}")
        if any(node.variations[1:] for node in game.mainline()):
            raise Failed(f"{file.name} has variations")
        games.append(game)
    return games


def check_kept(folder: Path, board: str, played: list[Played], failed: bool = False) -> int:
    """Every game has one file, in the order they were played, with the same moves and the result; how many. If the
    next one `failed`, it may be there too."""
    games = kept(folder, board) if folder.is_dir() else []
    for game, wanted in zip(games, played):
        end = game.end().board()
        if end.root().fen() != wanted.last.root().fen() or end.move_stack != wanted.last.move_stack:
            raise Failed(f"{wanted.title}: kept as {game.headers} {end.root().fen()} {end.move_stack}")
        # A game is over only if a program or player said so.
        result = wanted.last.result(claim_draw=False)
        if game.headers["Result"] != result:
            raise Failed(f"{wanted.title}: {result} is kept as {game.headers['Result']}")
    if failed:
        games = games[: len(played)]
    if len(games) != len(played):
        raise Failed(f"{len(played)} games were played, {len(games)} were kept")
    return len(games)
