"""A GUI that shows `info json` as its proposal says, and knows nothing of BoardBridge. It is strict."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

from rig import Failed

PREFIX = "info json "
MAX_LINE = 8 * 1024
# What GUIs act on wherever it stands in a line.
FORBIDDEN = set(
    """bestmove ponder readyok uciok info depth seldepth time nodes pv multipv score cp mate lowerbound upperbound currmove
    currmovenumber hashfull nps tbhits sbhits cpuload string refutation currline wdl movesleft""".split()
)
TABLE_KEYWORDS = {"name", "header", "row", "rows", "updatedby"}
SQUARE = "[a-h][1-8]"


def dump(value: object) -> str:
    """Compact JSON in ASCII."""
    return json.dumps(value, separators=(",", ":"))


def must(so: bool, what: str, line: str) -> None:
    """The line is right, or the test fails."""
    if not so:
        raise Failed(f"{what}: {line}")


class ModelGui:
    """What is shown."""

    def __init__(self) -> None:
        self.headers: dict[str, list[str]] = {}
        self.tables: dict[str, list[list[Any]]] = {}
        self.arrows: list[str] = []
        self.bubbles: list[dict[str, Any]] = []
        self._last = ""

    def copy(self) -> ModelGui:
        """As it is now."""
        return copy.deepcopy(self)

    def starts_thinking(self) -> None:
        """At `go` everything is cleared."""
        self.__init__()

    def rows(self, table: str) -> list[list[Any]]:
        """A table's rows."""
        return self.tables.get(table, [])

    def state(self, what: str) -> str:
        """The state of something in the table `Board`."""
        return next((row[1] for row in self.rows("Board") if row[0] == what), "")

    def takes(self, line: str) -> None:
        """Takes a line in."""
        must(line.isascii() and line.isprintable(), "not printable ASCII", line)
        must(len(line) <= MAX_LINE, "too long", line)
        must(line != self._last, "sent twice", line)
        self._last = line
        text = line.removeprefix(PREFIX)
        for word in re.split("[^A-Za-z0-9]+", text):
            must(word.lower() not in FORBIDDEN, f"the word {word}", line)
        try:
            told = json.loads(text)
        except ValueError as error:
            raise Failed(f"{error}: {line}") from error
        must(dump(told) == text, "not compact", line)
        must(isinstance(told, dict) and len(told) == 1, "not one thing", line)
        match told:
            case {"table": dict(table)}:
                self._table(table, line)
            case {"arrow": list(arrows)}:
                must(all(re.fullmatch(SQUARE * 2, arrow) for arrow in arrows), "arrows", line)
                self.arrows = arrows
            case {"bubble": list(bubbles)}:
                for bubble in bubbles:
                    must(bubble.keys() == {"cell", "value"}, "bubbles", line)
                    must(bool(re.fullmatch(SQUARE, bubble["cell"])), "bubbles", line)
                self.bubbles = bubbles
            case _:
                raise Failed(f"no keyword of the proposal: {line}")

    def _table(self, table: dict[str, Any], line: str) -> None:
        must(table.keys() <= TABLE_KEYWORDS, "no keyword of the proposal", line)
        must(("row" in table) != ("rows" in table), "row or rows", line)
        name = table["name"]
        rows = [table["row"]] if "row" in table else table["rows"]
        header = self.headers[name] = table.get("header") or self.headers.get(name, [])
        must(bool(header), "no header yet", line)
        must(all(len(row) == len(header) for row in rows), "columns", line)
        must(all(isinstance(cell, (int, float, str)) for row in rows for cell in row), "cells", line)
        if "updatedby" not in table:
            self.tables[name] = rows
            return
        must(table["updatedby"] in header, "no such column", line)
        key = header.index(table["updatedby"])
        shown = self.tables.setdefault(name, [])
        for row in rows:
            same = [index for index, old in enumerate(shown) if old[key] == row[key]]
            for index in same[:1]:
                shown[index] = row
            if not same:
                shown.append(row)

    def since(self, before: ModelGui, cleared: bool) -> list[str]:
        """The lines that lead here from `before`, or from nothing if it was cleared: fewer than were sent, where a state was
        passed on the way."""
        if cleared:
            before = ModelGui()
        told: list[dict[str, Any]] = []
        for name in sorted(self.tables):
            old, new, header = before.rows(name), self.tables[name], self.headers[name]
            if old == new:
                continue
            grown = [row[0] for row in new[: len(old)]] == [row[0] for row in old]
            if old and grown and name != "Set-up":
                changed = [row for index, row in enumerate(new) if row not in old[index : index + 1]]
                told += [{"table": {"name": name, "updatedby": header[0], "row": row}} for row in changed]
            else:
                told.append({"table": {"name": name, "header": header, "rows": new}})
        if before.arrows != self.arrows:
            told.append({"arrow": self.arrows})
        if before.bubbles != self.bubbles:
            told.append({"bubble": self.bubbles})
        return [PREFIX + dump(one) for one in told]
