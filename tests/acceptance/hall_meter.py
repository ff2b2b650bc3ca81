#!/usr/bin/env python3
"""A table whose moves are timed, beside the broker's own publish-to-receive: both in one process, in turn, on the same machine.

    hall_meter.py BROKER:PORT BOARD_PORT UCI_PORT BOARD GAMES SEED

A line of JSON for every move: `{"move": seconds, "broker": seconds}`; `null` for the broker while it cannot be reached.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import sys
import time
from pathlib import Path

import hall_broker as mqtt
from hall_tables import Board, Program, Table

# Bytes of the state of a board in mid-game, measured: what one daemon tells the other of a move.
PAYLOAD = 2_600
TOPIC = "hall/meter"
# Seconds for one round, and between the move and that: nothing else of this process may be going on.
WAIT = 5.0
APART = 0.02
# Seconds after which the hand makes its move again: it may have been lost with the daemon.
LOST = 8.0


class Voice(asyncio.Protocol):
    """A plain client of the broker: what it is sent it confirms."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self.heard: asyncio.Queue[tuple[int, float]] = asyncio.Queue()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        now = time.perf_counter()
        self._buffer += data
        for whole in mqtt.split(self._buffer):
            if mqtt.is_publish(whole):
                self.transport.write(mqtt.puback(mqtt.number(whole)))
                self.heard.put_nowait((mqtt.PUBLISH, now))
            else:
                self.heard.put_nowait((whole[0] & 0xF0, now))

    async def hears(self, kind: int) -> float:
        """When the next packet of this kind came."""
        while True:
            found, at = await asyncio.wait_for(self.heard.get(), WAIT)
            if found == kind:
                return at


class Probe:
    """Two plain clients, one of which listens to the other."""

    def __init__(self, broker: str) -> None:
        host, _, port = broker.rpartition(":")
        self._host, self._port = host, int(port)
        self._voices: list[Voice] = []

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        for name in ("says", "hears"):
            _, voice = await loop.create_connection(Voice, self._host, self._port)
            self._voices.append(voice)
            voice.transport.write(mqtt.connect(f"meter-{name}"))
            await voice.hears(0x20)
        self._voices[1].transport.write(mqtt.subscribe(TOPIC))
        await self._voices[1].hears(mqtt.SUBACK)

    async def round(self, count: int) -> float | None:
        """Seconds from publishing to receiving; `None` without a broker."""
        try:
            if not self._voices or any(voice.transport.is_closing() for voice in self._voices):
                self._voices.clear()
                await self._connect()
            says, hears = self._voices
            began = time.perf_counter()
            says.transport.write(mqtt.publish(TOPIC, count % 60_000 + 1, b"x" * PAYLOAD))
            came = await hears.hears(mqtt.PUBLISH)
            await says.hears(mqtt.PUBACK)
            return came - began
        except (OSError, TimeoutError):
            for voice in self._voices:
                voice.transport.close()
            self._voices.clear()
            return None


async def main() -> None:
    """Plays until it is killed."""
    broker, board_port, uci_port, name, games, seed = sys.argv[1:]
    dice = random.Random(int(seed))
    lines = [line.split() for line in Path(games).read_text().splitlines()]
    dice.shuffle(lines)
    table = Table(name, 0, 1, itertools.cycle(lines))
    board, program, probe = Board(table, dice), Program(table, int(uci_port), f"far-{name}"), Probe(broker)
    await board.listen(int(board_port))
    program.start()
    told = 0
    while True:
        await asyncio.sleep(APART)
        if time.monotonic() - table.moved > LOST:
            table.moved = time.monotonic()
            board.again()
        if len(table.latencies) > told:
            told = len(table.latencies)
            print(json.dumps({"move": table.latencies[-1], "broker": await probe.round(told)}), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
