"""Tables of a hall: a home-made board at one daemon, a chess program at another that plays on it, and who watches both."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

# Seconds: how soon a hand moves, and how soon a program or a watcher tries again to reach its daemon.
HAND = (0.1, 0.5)
AGAIN = 0.2
CLOCK = "wtime 900000 btime 900000"
CASTLING = {"0-0": ("e1g1", "e8g8"), "0-0-0": ("e1c1", "e8c8")}


@dataclass
class Table:
    """Whole games, one after the other, between a hand at one daemon and a program at another."""

    name: str
    owner: int
    player: int
    games: Iterator[list[str]]
    hand: tuple[float, float] = HAND
    # The game that is being played, and those that were begun.
    moves: list[str] = field(default_factory=list)
    begun: list[list[str]] = field(default_factory=list)
    done: int = 0
    # No further game is begun.
    ends: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)
    # When each of the games was over for the program, and when the next one had its first move there: until then a daemon may not
    # have heard that it is over.
    ended: list[float] = field(default_factory=list)
    settled: list[float] = field(default_factory=list)
    # When the hand made the move of each ply of this game, and seconds until the program had it.
    made: dict[int, float] = field(default_factory=dict)
    latencies: list[float] = field(default_factory=list)
    moved: float = field(default_factory=time.monotonic)
    faults: list[str] = field(default_factory=list)
    # What happened, for the reader of a failure.
    log: list[str] = field(default_factory=list)

    def fault(self, what: str) -> None:
        """Something that must not happen."""
        self.note(f"FAULT {what}")
        self.faults.append(f"{self.name}, game {len(self.begun)}: {what}")

    def note(self, what: str) -> None:
        """Keeps a line for the reader of a failure."""
        self.log.append(f"{time.time() % 1000:.3f} {what}")
        del self.log[:-60]

    def begin(self) -> bool:
        """The next game, if there is one."""
        if self.ends:
            self.over.set()
            return False
        self.moves = next(self.games)
        self.begun.append(self.moves)
        self.made.clear()
        return True

    def is_hands(self, ply: int) -> bool:
        """Whether the hand makes the move after so many: it has the last one of each game."""
        return (len(self.moves) - ply) % 2 == 1


class Board:
    """A home-made board that keeps its game, and the hand above it. It speaks SWPP, to the newest connection."""

    def __init__(self, table: Table, dice: random.Random) -> None:
        self.table, self._dice = table, dice
        self._game = 0
        self.ply = 0
        self._link: _BoardLink | None = None
        # The daemon was killed: the hand waits until the page shows the game again.
        self.waits = False
        # The hand's last move is not known there.
        self._lost = False
        # What the daemon shows again after a handshake may have been on its way when the hand moved.
        self._crossed = False
        # The move that was shown last is not known there: it is shown again before the hand goes on.
        self._untold = False
        self._mover: asyncio.TimerHandle | None = None

    async def listen(self, port: int) -> None:
        """Waits for the daemon."""
        await asyncio.get_running_loop().create_server(lambda: _BoardLink(self), "127.0.0.1", port)

    def opened(self, link: _BoardLink) -> None:
        """A connection, which replaces the one before."""
        before, self._link = self._link, link
        if before is not None:
            before.transport.close()
        self.table.note("board: linked")

    def closed(self, link: _BoardLink) -> None:
        """A connection is gone."""
        if self._link is link:
            self._link = None
            self.table.note("board: link lost")

    def told(self, line: str) -> None:
        """What the daemon says."""
        self.table.note(f"board < {line}")
        match line[:2]:
            case "H0":
                assert self._link is not None
                self._link.say(f"H101{'1.0':>8}{self.table.name}")
                self._link.greeted = self._crossed = True
                self.hand()
            case "NG":
                self._new_game(line)
            case "MA":
                self._shown(line[2:].strip())

    def _new_game(self, line: str) -> None:
        table = self.table
        if self._game != len(table.begun):
            if self.ply not in (0, len(table.begun[self._game - 1]) if self._game else 0):
                table.fault(f"a new game is begun after {self.ply} plies of the one before")
            self._game, self.ply = len(table.begun), 0
        elif self.ply > 0:
            table.fault(f"the game is begun anew after {self.ply} plies")
        if line[3:4] != ("Y" if table.is_hands(0) else "N"):
            table.fault(f"{line} is the wrong way round")
        self.hand()

    def _shown(self, move: str) -> None:
        table, ply = self.table, self.ply
        if move in CASTLING:
            move = CASTLING[move][ply % 2]
        if self._game == len(table.begun) and ply < len(table.moves) and not table.is_hands(ply) and move == table.moves[ply]:
            self.ply += 1
            self._crossed = False
            self.hand()
        elif self._game and move in table.begun[self._game - 1][max(0, ply - 1 - (self._lost or self._crossed)) : ply]:
            # After a new handshake the last one is told again.
            self._untold = False
            self.hand()
        else:
            table.fault(f"the board is shown {move} after {ply} plies")

    def shows(self, ply: int) -> None:
        """The page shows a game of so many plies again, after the daemon was killed."""
        if not self.waits:
            return
        if ply not in (self.ply - 1, self.ply, self.ply + 1) or ply > self.ply and self.table.is_hands(self.ply):
            self.table.fault(f"the daemon has {ply} plies after its end, the board {self.ply}")
        # Lost with the daemon, for nothing confirms it on the way: the hand makes it again. A move that was shown is shown again.
        self._lost = ply == self.ply - 1 and self.table.is_hands(ply)
        self._untold = ply == self.ply - 1 and not self.table.is_hands(ply)
        self.waits = False
        self.hand()

    def again(self) -> None:
        """The hand makes its last move again, if that is the last one."""
        if self.ply > 0 and self.table.is_hands(self.ply - 1) and self._link is not None and self._link.greeted:
            self._link.say(f"MB{self.table.moves[self.ply - 1]:>5}")

    def hand(self) -> None:
        """The hand makes its move soon, if it is its turn."""
        if self._mover is None:
            self._mover = asyncio.get_running_loop().call_later(self._dice.uniform(*self.table.hand), self._move)

    def _move(self) -> None:
        self._mover = None
        table, ply, link = self.table, self.ply, self._link
        if link is None or not link.greeted or self.waits or self._untold:
            return
        if self._lost:
            self._lost = False
            table.note("board: the lost move again")
            self.again()
        if self._game != len(table.begun) or ply >= len(table.moves) or not table.is_hands(ply):
            return
        self.ply += 1
        table.note(f"board > MB {table.moves[ply]}")
        table.made[ply] = time.perf_counter()
        link.say(f"MB{table.moves[ply]:>5}")


class _BoardLink(asyncio.Protocol):
    def __init__(self, board: Board) -> None:
        self._board, self._buffer = board, b""
        self.greeted = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._board.opened(self)

    def data_received(self, data: bytes) -> None:
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            self._board.told(line.decode())

    def connection_lost(self, _: Exception | None) -> None:
        self._board.closed(self)

    def say(self, line: str) -> None:
        """Sends a line."""
        self.transport.write(line.encode() + b"\n")


class _Caller(asyncio.Protocol):
    """Whoever connects to a daemon; a failed attempt is a connection lost."""

    _port: int

    def _connect_soon(self, wait: float) -> None:
        asyncio.get_running_loop().call_later(wait, lambda: asyncio.ensure_future(self._connect()))

    async def _connect(self) -> None:
        try:
            await asyncio.get_running_loop().create_connection(lambda: self, "127.0.0.1", self._port)
        except OSError:
            self.connection_lost(None)


class Program(_Caller):
    """A chess program with its relay: what was not answered is asked again over the next connection."""

    def __init__(self, table: Table, port: int, board: str) -> None:
        self.table, self._port, self._board = table, port, board
        self._transport: asyncio.Transport | None = None
        self._buffer = b""
        self.ply = 0
        # Until a daemon has the first position of the game.
        self._is_new = False
        self._awaits = False
        self.connections = 0

    def start(self) -> None:
        """Begins the first game."""
        self._next_game()
        self._connect_soon(0)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport, self._buffer = transport, b""
        self.connections += 1
        self.table.note("program: connected")
        self._say("uci")

    def connection_lost(self, _: Exception | None) -> None:
        if self._transport is not None:
            self.table.note("program: disconnected")
        self._transport = None
        if not self.table.over.is_set():
            self._connect_soon(AGAIN)

    def data_received(self, data: bytes) -> None:
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            self._told(line.decode())

    def _say(self, *lines: str) -> None:
        if self._transport is not None:
            self._transport.write("".join(line + "\n" for line in lines).encode())

    def _told(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        match word:
            case "uciok":
                self._say(f"setoption name Board value {self._board}")
                self._ask()
            case "readyok":
                self._is_new = False
            case "bestmove":
                self._answered(rest.split()[0])
            case "info":
                self.table.note(f"program < {line[:160]}")

    def _ask(self) -> None:
        moves = " ".join(self.table.moves[: self.ply])
        position = f"position startpos moves {moves}" if moves else "position startpos"
        new = ["ucinewgame"] if self._is_new else []
        self.table.note(f"program > go after {self.ply}")
        self._say(*new, position, "isready", f"go {CLOCK}")

    def _answered(self, move: str) -> None:
        table, now = self.table, time.perf_counter()
        table.note(f"program < bestmove {move}")
        if not self._awaits:
            table.fault(f"bestmove {move} comes unasked after {self.ply} plies")
            return
        wanted = table.moves[self.ply]
        if move != wanted:
            table.fault(f"bestmove {move} after {self.ply} plies, but the hand made {wanted}")
            return
        if self.ply in table.made:
            table.latencies.append(now - table.made[self.ply])
        else:
            table.fault(f"bestmove {move}, which the hand has not made")
        table.moved = time.monotonic()
        while len(table.settled) < len(table.ended):
            table.settled.append(table.moved)
        self.ply += 1
        self._awaits = False
        if self.ply >= len(table.moves):
            table.done += 1
            table.ended.append(time.monotonic())
            self._next_game()
        else:
            self.ply += 1
            self._awaits = True
        if self._awaits:
            self._ask()

    def _next_game(self) -> None:
        if self.table.begin():
            self.ply = 0 if self.table.is_hands(0) else 1
            self._is_new = self._awaits = True
        elif self._transport is not None:
            self._say("quit")


class Watcher(_Caller):
    """Reads the event stream of a daemon: every move of a game is told once, in order."""

    def __init__(self, name: str, port: int, tables: dict[str, Table], owned: dict[str, Board]) -> None:
        self._name, self._port, self._tables, self._owned = name, port, tables, owned
        self._buffer = b""
        self._seen: dict[str, list[str]] = {}
        # Boards of other daemons that this one has not heard of since its start: it has no event for a game it finds there.
        self._unknown: set[str] = set()
        self.told = 0
        self.lagged = 0
        self._stopped = False

    def start(self) -> None:
        """Connects, and again whenever the daemon comes back."""
        self._connect_soon(0)

    def stop(self) -> None:
        """Does not connect again."""
        self._stopped = True

    def connection_made(self, _: asyncio.BaseTransport) -> None:
        self._buffer = b""

    def connection_lost(self, _: Exception | None) -> None:
        if not self._stopped:
            self._connect_soon(AGAIN)

    def data_received(self, data: bytes) -> None:
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        for line in lines:
            # Most lines are of other kinds, and to read them all takes a processor.
            if b'"moved"' in line or b'"took-back"' in line or b'"snapshot"' in line or b'"lagged"' in line:
                self._line(json.loads(line))

    def _line(self, line: dict[str, object]) -> None:
        event, board = line["event"], str(line.get("board"))
        if event == "lagged":
            self.lagged += 1
        if board not in self._tables:
            return
        table = self._tables[board]
        match event:
            case "snapshot":
                # What a daemon remembers.
                self._seen[board] = str(line["game"]).split()[2:]
                if line["link"] == "down" and board not in self._owned:
                    self._unknown.add(board)
                else:
                    self._unknown.discard(board)
                if board in self._owned:
                    table.note(f"{self._name} shows {len(self._seen[board])} plies of {board}, link {line['link']}")
                    self._owned[board].shows(len(self._seen[board]))
            case "moved":
                self.told += 1
                self._moved(table, board, str(line["uci"]), int(str(line["ply"])))
            case "took-back":
                table.fault(f"{self._name} tells that {line['uci']} of {board} is taken back")

    def _moved(self, table: Table, board: str, move: str, ply: int) -> None:
        seen = self._seen.setdefault(board, [])
        if ply == 1 and seen:
            if seen not in table.begun[-2:]:
                table.fault(f"{self._name} tells {board}'s first move again after {len(seen)} plies")
            seen.clear()
        elif board in self._unknown and ply > len(seen):
            told = (game for game in reversed(table.begun[-2:]) if game[ply - 1 : ply] == [move])
            seen[:] = next(told, table.moves)[: ply - 1]
        self._unknown.discard(board)
        if ply != len(seen) + 1:
            table.fault(f"{self._name} tells move {ply} of {board} after {len(seen)}")
            return
        seen.append(move)
        if not any(game[:ply] == seen for game in table.begun[-2:]):
            table.fault(f"{self._name} tells {move} as move {ply} of {board}, which nobody made")
