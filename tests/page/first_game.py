#!/usr/bin/env python3
"""The first game of somebody who edits no file and opens no terminal, in a real browser.

A daemon that knows no board; a simulated Citrine is plugged in (a pseudo-terminal under a watched name in /dev, so root is needed); the
page is opened, *Play* is pressed, the hand moves, and the engine answers. Then the daemon is killed and starts again, and the board
is plugged in under another name: the same board, the same game.

    BOARDBRIDGE=target/release/boardbridge tests/page/first_game.py
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from run import BOARDBRIDGE, PHONE, Page, Program, free_port, until

CONFIG = """
[uci]
listen = "127.0.0.1:0"
[status]
listen = "127.0.0.1:0"
[livechess]
listen = "off"
[web]
listen = "127.0.0.1:{web}"
[state]
directory = "{folder}/state"
[games]
directory = "{folder}/games"
[discovery]
bluetooth = "off"
"""
BY_ID = Path("/dev/serial/by-id")
NAME = BY_ID / "usb-Novag_Citrine_of_a_test-if00"
ADAPTER = BY_ID / "usb-FTDI_adapter_of_a_test-if00"
ENGINE = shutil.which("stockfish") or shutil.which("stockfish", path="/usr/games")
# How long the first move may take after the plug, as was promised.
FIRST_MOVE_S = 60.0


class Board:
    """A simulated Citrine at a port of /dev, with a hand that does what it is told."""

    def __init__(self) -> None:
        command = [BOARDBRIDGE, "simulate", "novag-citrine", "--hand-delay", "0s"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        assert self.process.stdin and self.process.stdout
        self.orders, self.seen = self.process.stdin, self.process.stdout

    def is_plugged(self) -> str:
        """Waits until it is, and returns its pseudo-terminal."""
        return self.sees("plugged ").split()[1]

    def sees(self, words: str) -> str:
        """Waits for what happens on the board, and returns the line."""
        for line in self.seen:
            if line.startswith(words):
                return line
        raise AssertionError("the simulated board has ended")

    def does(self, order: str) -> None:
        self.orders.write(order + "\n")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def plugged(pty: str, port: str, lasting: Path = NAME) -> Iterator[None]:
    """As udev does it: the port, then its lasting name."""
    path = Path("/dev") / port
    made = [folder for folder in [BY_ID.parent, BY_ID] if not folder.exists()]
    BY_ID.mkdir(parents=True, exist_ok=True)
    path.symlink_to(pty)
    lasting.symlink_to(path)
    try:
        yield
    finally:
        lasting.unlink()
        path.unlink()
        for folder in reversed(made):
            folder.rmdir()


def main() -> None:
    if os.geteuid() != 0 or ENGINE is None:
        print("not tried: it takes root, and Stockfish")
        return
    web = free_port()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bb.toml").write_text(CONFIG.format(web=web, folder=folder))
        daemon = Program([BOARDBRIDGE, "run", "--config", str(folder / "bb.toml")], folder / "log")
        board = Board()
        try:
            plays(daemon, board, web, folder)
        except BaseException:
            print((folder / "log").read_text()[-5000:])
            raise
        finally:
            board.close()
            daemon.kill()


def opened(web: int) -> Page:
    def answers() -> Page | None:
        try:
            return Page(f"http://127.0.0.1:{web}/", PHONE)
        except Exception:  # noqa: BLE001 - chromedriver has many for a port that is closed
            return None

    return until("the page", answers)


def is_asked(page: Page) -> bool:
    """Whether it is the hand's turn, perhaps after a move that is shown."""
    return "Your move" in page.text("#board-citrine .do") or "your turn" in page.text("#board-citrine .sub")


def is_told_how_it_stands(page: Page) -> None:
    """What the engine makes of the game is shown to those who want that."""
    rating = "#board-citrine .other .rating"
    assert page.text(rating) == "", "off at first"
    page.turn_to("settings")
    page.one("#evaluation").click()
    page.turn_to("boards")
    until("pawns", lambda: re.fullmatch(r"[+\u2212]?\d\.\d", page.text(rating)))


def sets_what_is_kept(page: Page, folder: Path) -> None:
    """The name for saved games and the board of the app are chosen in Settings, and kept as a file."""
    page.turn_to("settings")
    field = lambda words: page.driver.find_element(By.XPATH, f"//section[@id='settings']//label[starts-with(., '{words}')]/*[last()]")
    until("the board can be chosen", lambda: field("By Bluetooth").find_elements(By.CSS_SELECTOR, "[value='citrine']"))
    field("Player at the board").send_keys("Zoë", Keys.ENTER)
    until("the name is said", lambda: "is called Zoë" in page.text("#settings"))
    field("By Bluetooth").send_keys("citrine")
    until("the board is said", lambda: "may play on citrine" in page.text("#settings"))
    kept = (folder / "state/settings.toml").read_text()
    assert 'player = "Zoë"' in kept and '[[whitepawn]]\nboard = "citrine"\nble = {}' in kept, kept
    page.turn_to("boards")


def gets_another_name(page: Page, web: int) -> None:
    """By somebody else, while the list of boards is looked at: it does not wait until it looks again."""
    page.turn_to("desk")
    until("its row", lambda: page.text("#at-boards h3") == "citrine")
    for name, other in [("citrine", "other"), ("other", "citrine")]:
        page.driver.execute_script("clearTimeout(desk.timer)")
        subprocess.run([BOARDBRIDGE, "rename", name, other, "--connect", f"127.0.0.1:{web}"], check=True)
        until("its row has the other name", lambda other=other: page.text("#at-boards h3") == other)
    page.turn_to("boards")


def looks(page: Page, pty: str) -> None:
    """How each kind is switched on, and which board an adapter has, before one is added."""
    page.turn_to("desk")
    until("nothing is found, so it is told how boards are switched on", lambda: page.one("#how-kind").is_displayed())
    for option in page.driver.find_elements(By.CSS_SELECTOR, "#how-kind option")[1:]:
        option.click()
        picture, words = page.one("#how-shown svg"), page.text("#how-shown p")
        assert picture.is_displayed() and picture.get_attribute("aria-label") and len(words) > 20, option.text
    page.accessible("how a board is switched on")
    with plugged(pty, "ttyUSB94", ADAPTER):
        until("the adapter is found", lambda: "adapter of a test" in page.text("#found"))
        page.one("#found li button:last-child").send_keys(Keys.ENTER)
        until("it answers", lambda: "It answers: Novag Citrine" in page.text("#desk-said"))
        page.accessible("a board was tried")
    page.turn_to("boards")


def two_people_play(page: Page) -> None:
    """By their names."""
    page.one("#at-boards option[value='people']").click()
    for field, name in zip(page.driver.find_elements(By.CSS_SELECTOR, "#at-boards .fields input[type='text']"), ["Anna", "Bert"]):
        field.send_keys(name)
    page.one("#at-boards li button").click()
    names = lambda: {page.text(f"#board-citrine .{side} .name") for side in ["mine", "other"]}
    until("their names", lambda: names() == {"Anna", "Bert"})


def plays(daemon: Program, board: Board, web: int, folder: Path) -> None:
    page = opened(web)
    until("the page says that there is no board", lambda: page.one("#none").is_displayed())
    page.accessible("no board yet")
    pty = board.is_plugged()
    looks(page, pty)
    with plugged(pty, "ttyUSB96"):
        begun = time.monotonic()
        until("the board comes by itself", lambda: "Make a move" in page.text("#board-citrine .sub"))
        page.one("nav a[href='#desk']").click()
        play = "#at-boards li button"
        until("Play can be pressed", lambda: page.driver.find_elements(By.CSS_SELECTOR, play))
        page.accessible("play")
        assert not page.one("#desk .programs").is_enabled() and "set in the configuration" in page.text("#desk .switches"), "its `listen` is"
        next(one for one in page.driver.find_elements(By.CSS_SELECTOR, "#at-boards option") if one.text == "Level 2").click()
        page.one(play).click()
        until("the page turns to the board", lambda: page.one("#board-citrine").is_displayed())
        started = (folder / "state/play.d/citrine.toml").read_text()
        assert '"Skill Level" = 0' in started and "depth 3" in started, started
        until("the engine waits", lambda: "Your move" in page.text("#board-citrine .do"))
        board.does("e2e4")
        until("the engine has answered", lambda: page.moves("citrine") >= 2)
        took = time.monotonic() - begun
        print(f"  from the plug to the engine's first move: {took:.1f} s")
        assert took < FIRST_MOVE_S, took
        is_told_how_it_stands(page)
        sets_what_is_kept(page, folder)
        gets_another_name(page, web)
        daemon.kill()
        daemon.start()
        until("it goes on after a kill", lambda: page.text("#line") == "connected" and page.moves("citrine") >= 2)
        until("the engine waits again", lambda: is_asked(page))
    board.does("unplug")
    until("it is away", lambda: "not connected" in page.text("#board-citrine .link").lower())
    until("the name is in the saved game", lambda: any('[White "Zoë"]' in file.read_text() for file in (folder / "games").glob("*.pgn")))
    board.does("plug")
    with plugged(board.is_plugged(), "ttyUSB95"):
        until("the same board at another name", lambda: is_asked(page))
        assert len(page.driver.find_elements(By.CSS_SELECTOR, "#all article")) == 1
        assert page.moves("citrine") >= 2, "the same game"
        page.one("nav a[href='#desk']").click()
        until("Stop is there", lambda: page.text("#at-boards li button") == "Stop")
        page.one("#at-boards li button").click()
        until("Play is there again", lambda: page.text("#at-boards li button") == "Play")
        two_people_play(page)
    page.close(may_lose=True)


if __name__ == "__main__":
    main()
