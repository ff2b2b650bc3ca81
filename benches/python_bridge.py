"""A bridge as users of a board write it: pyserial and python-chess. Reads a UCB's moves from the port that is named, and says
`bestmove` on a socket whose address it prints."""

import socket
import sys

import chess
import serial


def main() -> None:
    port = serial.Serial(sys.argv[1], 9600)
    with socket.create_server(("127.0.0.1", 0)) as server:
        print(server.getsockname()[1], flush=True)
        program, _ = server.accept()
    program.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    board = chess.Board()
    while line := port.readline():
        move = board.push_uci(line.decode().strip()[1:])
        program.sendall(f"bestmove {move}\n".encode())


if __name__ == "__main__":
    main()
