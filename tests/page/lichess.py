#!/usr/bin/env python3
"""A login pressed on the page, challenges, a search and a whole game on Lichess, in a real browser: by the Lichess in software of the tests.

    BOARDBRIDGE=target/release/boardbridge LICHESS=target/release/examples/lichess tests/page/lichess.py
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from pathlib import Path

from selenium.webdriver.common.by import By

from first_game import Board, is_asked, opened
from run import PHONE, REPOSITORY, BOARDBRIDGE, Page, Program, free_port, until

LICHESS = os.environ.get("LICHESS", str(REPOSITORY / "target/debug/examples/lichess"))
CONFIG = """
[uci]
listen = "127.0.0.1:0"
[status]
listen = "off"
[livechess]
listen = "off"
[web]
listen = "127.0.0.1:{web}"
[state]
directory = "{folder}/state"
[games]
directory = "{folder}/games"
[discovery]
serial = "off"
bluetooth = "off"
[lichess]
url = "{url}"
[boards.citrine]
kind = "novag-citrine"
serial = {{ port = "{port}" }}
move_wait = "100ms"
"""
# White's moves are the hand's.
GAME = "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7".split()


class Lichess:
    """The server, which does what it is told."""

    def __init__(self) -> None:
        self.process = subprocess.Popen([LICHESS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        assert self.process.stdin and self.process.stdout
        self.orders, self.said = self.process.stdin, self.process.stdout
        self.url = self.said.readline().strip()

    def does(self, what: str) -> None:
        self.orders.write(what + "\n")
        assert self.said.readline().strip() == what

    def close(self) -> None:
        """It has seen nothing that no client may do."""
        self.orders.close()
        assert self.process.wait(10) == 0


def main() -> None:
    web = free_port()
    lichess, board = Lichess(), Board()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        port = board.is_plugged()
        (folder / "bb.toml").write_text(CONFIG.format(web=web, folder=folder, url=lichess.url, port=port))
        daemon = Program([BOARDBRIDGE, "run", "--config", str(folder / "bb.toml")], folder / "log")
        try:
            begun = time.monotonic()
            plays(opened(web), board, lichess)
            kept = until("the kept game", lambda: [file.read_text() for file in (folder / "games").glob("*.pgn")])
            assert len(kept) == 1 and '[Event "casual rapid game"]' in kept[0] and f'[Site "{lichess.url}/' in kept[0], kept
            print(f"  logged in, played and won in {time.monotonic() - begun:.1f} s")
        except BaseException:
            print((folder / "log").read_text()[-5000:])
            raise
        finally:
            board.close()
            daemon.kill()
            lichess.process.kill()


def settings_button(page: Page, words: str) -> bool:
    found = page.driver.find_elements(By.XPATH, f"//section[@id='settings']//button[contains(., '{words}')]")
    return bool(found and found[0].is_enabled() and (found[0].click() or True))


def is_asked_about_challenges(page: Page) -> None:
    """What is done with challenges is chosen, and kept."""
    accept = "//section[@id='settings']//select[option[@value='none']]"
    for value in ["none", "ask"]:
        page.driver.find_element(By.XPATH, f"{accept}/option[@value='{value}']").click()
        until("it is done", lambda value=value: page.driver.execute_async_script("ask('settings').then((all) => arguments[0](all.lichess_accept))") == value)
        until("Me plays again", lambda: "Me plays on citrine" in page.text("#settings"))


def account_button(page: Page, words: str) -> bool:
    found = page.driver.find_elements(By.XPATH, f"//ul[@id='at-lichess']//button[contains(., '{words}')]")
    return bool(found and found[0].is_enabled() and (found[0].click() or True))


def is_challenged(page: Page, lichess: Lichess) -> None:
    """A challenge is told wherever the page is, and answered on it; one that is withdrawn goes."""
    page.turn_to("boards")
    assert not page.one("#challenges").is_displayed()
    lichess.does("challenges Chal0001")
    until("a challenge is told beside the boards", lambda: page.text("#challenges").startswith("1"))
    assert page.one("#said").get_attribute("textContent") == "Other (2300) challenges you: 15+10, rated"
    page.accessible("a challenge waits")
    lichess.does("withdraws Chal0001")
    until("it is gone", lambda: not page.one("#challenges").is_displayed())
    page.turn_to("desk")
    for answer, id in [("Decline", "Chal0002"), ("Accept", "Chal0003")]:
        lichess.does(f"challenges {id}")
        until("it is shown while the part is looked at", lambda: "Other (2300) challenges you: 15+10, rated" in page.text("#at-lichess"))
        until("what was said last", lambda: page.text("#lichess-last") == "Other challenges you (15+10, rated)")
        page.accessible("a challenge can be answered")
        until(f"{answer} can be pressed", lambda answer=answer: account_button(page, answer))
        lichess.does(f"hears {answer.lower()} {id}")
        until("it is answered", lambda: page.text("#at-lichess") == "")


def seeks(page: Page, lichess: Lichess) -> None:
    """A search of one's own clock is there after a reload too, and is withdrawn."""
    fields = page.driver.find_elements(By.CSS_SELECTOR, "#on-lichess :is(select, input)")
    fields[3].find_element(By.CSS_SELECTOR, "option[value='']").click()
    shown = [field for field in fields if field.is_displayed()]
    for field, value in [(shown[2], "12"), (shown[3], "3")]:
        field.clear()
        field.send_keys(value)
    shown[-1].click()
    page.accessible("a clock of one's own")
    page.one("#on-lichess button").click()
    lichess.does("hears seek rated=true&time=12&increment=3&color=random")
    until("the search is shown", lambda: "Looking for an opponent: 12+3" in page.text("#at-lichess"))
    page.driver.refresh()
    until("it is shown after a reload", lambda: "Looking for an opponent: 12+3" in page.text("#at-lichess"))
    until("Withdraw can be pressed", lambda: account_button(page, "Withdraw"))
    until("it is withdrawn", lambda: page.text("#at-lichess") == "")


def plays(page: Page, board: Board, lichess: Lichess) -> None:
    until("the board", lambda: "Make a move" in page.text("#board-citrine .sub"))
    page.turn_to("settings")
    until("Log in can be pressed", lambda: settings_button(page, "Log in to Lichess"))
    until("the way back", lambda: "You are logged in as Me" in page.text("body"))
    page.accessible("the way back")
    page.one("a[href='/#settings']").click()
    until("who plays where", lambda: "Me plays on citrine" in page.text("#settings"))
    page.accessible("logged in")
    is_asked_about_challenges(page)
    page.turn_to("desk")
    until("what can be asked of Lichess", lambda: page.one("#on-lichess").is_displayed())
    page.accessible("play, with a login")
    is_challenged(page, lichess)
    seeks(page, lichess)
    page.turn_to("boards")
    lichess.does("begins white")
    for ply, m in enumerate(GAME):
        if ply % 2:
            lichess.does(f"moves {m}")
            board.sees(f"executed {m}")
        else:
            until(f"the hand's turn before {m}", lambda: is_asked(page))
            board.does(m)
            lichess.does(f"takes {m}")
        until(f"{m} on the page", lambda ply=ply: page.moves("citrine") > ply)
    lichess.does("ends mate white")
    until("the result, as the player at the board has it", lambda: page.text("#board-citrine .result") == "You won 1–0")
    assert page.text("#board-citrine .how") == "by checkmate"
    # Also for a page that is opened later, when the server has left the board.
    page.driver.refresh()
    until("the same result", lambda: page.text("#board-citrine .result") == "You won 1–0")
    page.accessible("the game is won")
    page.one("#board-citrine [data-button='again']").click()
    until("the next opponent can be chosen", lambda: page.one("#on-lichess").is_displayed())
    until("the part of Lichess is come to", lambda: page.driver.switch_to.active_element.get_attribute("id") == "lichess")
    page.turn_to("settings")
    until("Log out can be pressed", lambda: settings_button(page, "Log out"))
    until("nobody is logged in", lambda: "No one is logged in" in page.text("#settings"))
    page.close(may_lose=True)
    lichess.close()


if __name__ == "__main__":
    main()
