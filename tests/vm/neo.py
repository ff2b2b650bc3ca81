"""The host's part: a chess program that plays Black over the air, as the game in neo.uci goes."""

import os
import sys
from pathlib import Path

import chess
import chess.engine

GAME = (Path(__file__).parent / "neo.uci").read_text().split()
# The virtual machine is slow, and nothing here is about time. A board that was not heard at once is looked for again.
WAIT = 60


def main() -> int:
    relay = [os.environ["BOARDBRIDGE"], "uci", "--connect", f"127.0.0.1:{os.environ['VM_PORT_9670']}"]
    with chess.engine.SimpleEngine.popen_uci(relay, timeout=WAIT) as engine:
        board = chess.Board()
        for ply in range(0, len(GAME), 2):
            made = engine.play(board, chess.engine.Limit(time=WAIT)).move
            if made != chess.Move.from_uci(GAME[ply]):
                print(f"ply {ply + 1}: {made} came over the air, {GAME[ply]} was made on the board")
                return 1
            board.push(made)
            if ply + 1 < len(GAME):
                board.push_uci(GAME[ply + 1])
    print(f"{len(board.move_stack)} plies over the air, {board.result()}")
    return 0 if board.is_checkmate() else 1


if __name__ == "__main__":
    sys.exit(main())
