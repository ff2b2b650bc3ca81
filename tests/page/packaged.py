"""The packaged service, as a phone sees it: paired by the code that the service's machine shows, *Add* and *Play* are pressed; after the
machine was switched off and on, the game goes on.

    tests/page/packaged.py http://127.0.0.1:PORT/ FOLDER CODE|paired BOARD

The folder keeps what the browser does. Run by packaging/vm.py, in whose machine the service is, and which moves the hand at the board.
"""

from __future__ import annotations

import sys
from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import run
from pair import close, shown
from run import PHONE, Page, until

# Seconds that the machine may take for anything: it is emulated, and the gate compiles beside it.
run.PATIENCE_S = 300.0
# What is pressed to play at a board, and to end that.
PLAY = "#at-boards li button"


def begins(phone: Page, code: str, board: str) -> None:
    """Nobody has played yet."""
    until("the question for the code", lambda: shown(phone, "#pair-code"))
    assert not shown(phone, "#boards"), "somebody who is not paired sees the boards"
    phone.one("#pair-code").send_keys(code, Keys.ENTER)
    until("it is paired", lambda: shown(phone, "nav"))
    phone.turn_to("desk")
    until("the adapter is found", lambda: phone.driver.find_elements(By.CSS_SELECTOR, "#found li"))
    phone.one("#found li input").send_keys(board)
    phone.one("#found li button").click()
    until("Play can be pressed", lambda: phone.driver.find_elements(By.CSS_SELECTOR, PLAY))
    phone.one(PLAY).click()
    until("the page turns to the board", lambda: shown(phone, f"#board-{board}"))
    until("the engine has answered the hand", lambda: phone.moves(board) >= 2)


def goes_on(phone: Page, board: str) -> None:
    """The machine was switched off and on, and the hand has moved twice before."""
    until("the game is there, without a code", lambda: shown(phone, f"#board-{board}") and phone.moves(board) >= 4)
    assert not shown(phone, "#pair-code")
    until("the engine has answered the hand", lambda: phone.moves(board) >= 6)
    phone.turn_to("desk")
    until("it can be stopped", lambda: "Stop" in phone.text("#at-boards"))


def main(address: str, folder: str, code: str, board: str) -> None:
    phone = Page(address, PHONE, profile=Path(folder))
    if code == "paired":
        goes_on(phone, board)
    else:
        begins(phone, code, board)
    close(phone)


if __name__ == "__main__":
    main(*sys.argv[1:])
