#!/usr/bin/env python3
"""Debian's mosquitto, just enough of MQTT 5 to speak with it, and a proxy that doubles and reorders what it delivers.

Run as a program it is the proxy: `hall_broker.py LISTEN:PORT BROKER:PORT SEED`.
"""

from __future__ import annotations

import asyncio
import logging
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
import socket

# Where Debian puts it; not on the path of users.
PLACES = ["/usr/sbin/mosquitto", "/usr/local/sbin/mosquitto", "/usr/bin/mosquitto"]
CONNECT, PUBLISH, PUBACK, SUBSCRIBE, SUBACK = 0x10, 0x30, 0x40, 0x82, 0x90
QOS_1, DUP = 0x02, 0x08
# Of the deliveries through the proxy so many are doubled, and so many overtaken by the next one.
DOUBLED = 0.3
OVERTAKEN = 0.2
# Seconds a delivery waits for one that overtakes it.
HELD = 0.02


def mosquitto() -> str | None:
    """The program, where it is installed."""
    return next((place for place in PLACES if Path(place).exists()), None)


class Broker:
    """A broker of the test's own, killed and started again at will."""

    def __init__(self, folder: Path, program: str, addresses: list[str], port: int) -> None:
        self._folder, self._program, self.port = folder, program, port
        self._addresses = addresses
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, persists: bool) -> None:
        """Starts it. If it `persists`, each change is on the disk at once; else it knows nothing of before."""
        config = self._folder / "mosquitto.conf"
        # As root it would become another user, who cannot write there.
        lines = [f"listener {self.port} {address}" for address in self._addresses]
        lines += ["allow_anonymous true", "user root", "set_tcp_nodelay true", "log_type error", "log_type warning"]
        lines += [f"log_dest file {self._folder / 'mosquitto.log'}", f"persistence {str(persists).lower()}"]
        if persists:
            lines += [f"persistence_location {self._folder}/", "autosave_interval 1", "autosave_on_changes true"]
        config.write_text("\n".join(lines) + "\n")
        self._process = subprocess.Popen(
            [self._program, "-c", str(config)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        until = time.monotonic() + 10
        while True:
            try:
                socket.create_connection((self._addresses[0], self.port), 1).close()
                return
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def signal(self, number: signal.Signals) -> None:
        """Sends it a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        """`kill -9`."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)


def text(value: str) -> bytes:
    """A string as MQTT writes it."""
    data = value.encode()
    return len(data).to_bytes(2) + data


def packet(first: int, body: bytes) -> bytes:
    """A packet: its first byte, the length of the rest, the rest."""
    length, size = bytearray(), len(body)
    while True:
        size, low = divmod(size, 128)
        length.append(low | (0x80 if size else 0))
        if not size:
            return bytes([first]) + bytes(length) + body


def split(buffer: bytearray) -> list[bytes]:
    """Takes the whole packets out of a buffer."""
    packets = []
    while True:
        size, shift, at = 0, 0, 1
        while True:
            if at >= len(buffer):
                return packets
            size |= (buffer[at] & 0x7F) << shift
            shift, at = shift + 7, at + 1
            if buffer[at - 1] < 0x80:
                break
        if len(buffer) < at + size:
            return packets
        packets.append(bytes(buffer[: at + size]))
        del buffer[: at + size]


def _body(whole: bytes) -> int:
    """Where the rest of a packet begins."""
    at = 1
    while whole[at] >= 0x80:
        at += 1
    return at + 1


def is_publish(whole: bytes) -> bool:
    """Whether it is a message that is to be confirmed."""
    return whole[0] & 0xF6 == PUBLISH | QOS_1


def number(whole: bytes) -> int:
    """The number of a message of QoS 1, or of a confirmation."""
    at = _body(whole)
    if whole[0] & 0xF0 == PUBLISH:
        at += 2 + int.from_bytes(whole[at : at + 2])
    return int.from_bytes(whole[at : at + 2])


def connect(name: str) -> bytes:
    """Begins a connection, with a clean start and without properties."""
    return packet(CONNECT, text("MQTT") + bytes([5, 0x02, 0, 0, 0]) + text(name))


def subscribe(topic: str) -> bytes:
    """Asks for a topic."""
    return packet(SUBSCRIBE, bytes([0, 1, 0]) + text(topic) + bytes([1]))


def publish(topic: str, count: int, payload: bytes) -> bytes:
    """A message of QoS 1."""
    return packet(PUBLISH | QOS_1, text(topic) + count.to_bytes(2) + b"\0" + payload)


def puback(count: int) -> bytes:
    """Confirms a message."""
    return packet(PUBACK, count.to_bytes(2))


class Way:
    """One direction of a connection through the proxy."""

    def __init__(self, out: asyncio.StreamWriter, dice: random.Random, reorders: bool) -> None:
        self._out, self._dice, self._reorders = out, dice, reorders
        self._held: bytes | None = None
        # Confirmations of doubles, which the one that has sent the message once must not see: they come on the other way.
        self.extra: Counter[int] = Counter()

    def carry(self, whole: bytes, back: Way) -> None:
        """Passes a packet on, once or twice, now or after the next one."""
        if whole[0] & 0xF0 == PUBACK and back.extra[number(whole)] > 0:
            back.extra[number(whole)] -= 1
            return
        if not is_publish(whole):
            self.release()
            self._out.write(whole)
            return
        if self._reorders and self._held is None and self._dice.random() < OVERTAKEN:
            self._held = whole
            asyncio.get_running_loop().call_later(HELD, self.release)
            return
        self._publish(whole)
        self.release()

    def release(self) -> None:
        """Passes on what was held."""
        if self._held is not None:
            whole, self._held = self._held, None
            self._publish(whole)

    def _publish(self, whole: bytes) -> None:
        self._out.write(whole)
        if self._dice.random() < DOUBLED:
            self.extra[number(whole)] += 1
            self._out.write(bytes([whole[0] | DUP]) + whole[1:])


async def _pump(reader: asyncio.StreamReader, way: Way, back: Way, out: asyncio.StreamWriter) -> None:
    buffer = bytearray()
    try:
        while chunk := await reader.read(65_536):
            buffer += chunk
            for whole in split(buffer):
                way.carry(whole, back)
            await out.drain()
    except OSError:
        pass
    finally:
        out.close()


async def proxy(listen: str, broker: str, seed: int) -> None:
    """Takes connections until it is killed."""
    # What is passed on to somebody who has gone is no news here.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    dice = random.Random(seed)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, _, port = broker.rpartition(":")
        try:
            broker_reader, broker_writer = await asyncio.open_connection(host, int(port))
        except OSError:
            writer.close()
            return
        up = Way(broker_writer, dice, reorders=False)
        down = Way(writer, dice, reorders=True)
        await asyncio.gather(_pump(reader, up, down, broker_writer), _pump(broker_reader, down, up, writer))

    host, _, port = listen.rpartition(":")
    server = await asyncio.start_server(serve, host, int(port))
    print("ready", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(proxy(sys.argv[1], sys.argv[2], int(sys.argv[3])))
