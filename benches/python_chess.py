"""The work of one thing sensed as python-chess does it: the occupied squares after every legal move compared with those
sensed. Prints the median over the positions of the games in FILE, and two positions by name, in nanoseconds."""

import statistics
import sys
import time

import chess

MOST_MOVES = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1"
MIDDLE_GAME = "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10"


def matching(board, occupied):
    found = []
    for move in board.legal_moves:
        board.push(move)
        if board.occupied == occupied:
            found.append(move)
        board.pop()
    return found


def median(board, rounds=3):
    times = []
    for _ in range(rounds):
        start = time.perf_counter_ns()
        matching(board, board.occupied)
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times)


def main():
    medians = []
    with open(sys.argv[1], encoding="ascii") as games:
        for line in list(games)[:10]:
            board = chess.Board()
            for move in line.split():
                medians.append(median(board))
                board.push_uci(move)
    print(f"median ns per event: {statistics.median(medians):.0f}")
    print(f"slowest position ns per event: {max(medians):.0f}")
    for name, fen in (("218 moves", MOST_MOVES), ("middle game", MIDDLE_GAME)):
        print(f"{name} ns per event: {median(chess.Board(fen), 21):.0f}")


main()
