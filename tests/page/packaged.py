"""The packaged service, as a phone sees it: paired by the code that the service's machine shows, then *Play* is pressed.

    tests/page/packaged.py http://127.0.0.1:PORT/ CODE BOARD

Run by packaging/vm.py, in whose machine the service and the hand at the board are.
"""

from __future__ import annotations

import sys

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import run
from pair import close, shown
from run import PHONE, Page, until

# Seconds that the machine may take for anything: it is emulated, and the gate compiles beside it.
run.PATIENCE_S = 300.0


def main(address: str, code: str, board: str) -> None:
    phone = Page(address, PHONE)
    until("the question for the code", lambda: shown(phone, "#pair-code"))
    assert not shown(phone, "#boards"), "somebody who is not paired sees the boards"
    phone.one("#pair-code").send_keys(code, Keys.ENTER)
    until("the board", lambda: shown(phone, f"#board-{board}"))
    phone.turn_to("desk")
    play = "#at-boards li button"
    until("Play can be pressed", lambda: phone.driver.find_elements(By.CSS_SELECTOR, play))
    phone.one(play).click()
    until("Stop is there", lambda: phone.text(play) == "Stop")
    phone.turn_to("boards")
    until("the engine has answered the hand", lambda: phone.moves(board) >= 2)
    close(phone)


if __name__ == "__main__":
    main(*sys.argv[1:])
