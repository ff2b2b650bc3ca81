#!/usr/bin/env python3
"""Stands between a GUI and its engine: `tee.py FD COMMAND…` runs the engine, passes every line on, and writes each of them
to the file descriptor before that: `> ` from the GUI, `< ` from the engine."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import IO


def main() -> int:
    """Runs until the engine ends; its exit status."""
    notes = int(sys.argv[1])
    engine = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert engine.stdin is not None and engine.stdout is not None

    def copy(mark: bytes, source: IO[bytes], sink: IO[bytes]) -> None:
        try:
            for line in source:
                # One write: the two directions do not mix within a line.
                os.write(notes, mark + line)
                sink.write(line)
                sink.flush()
            sink.close()
        except OSError:
            pass  # the one or the other has ended

    threading.Thread(target=copy, args=(b"> ", sys.stdin.buffer, engine.stdin), daemon=True).start()
    copy(b"< ", engine.stdout, sys.stdout.buffer)
    return engine.wait()


if __name__ == "__main__":
    # A thread that reads the GUI's end must not keep the process.
    os._exit(main())
