#!/usr/bin/env python3
"""A phone belongs to the house by a code, in a real browser: on a phone's size, by keyboard, in light and dark.

Two browsers: one on BoardBridge's computer, which shows the code, and one on the phone. What the phone sends comes from another
address (127.0.0.2), by a relay of this script.

    BOARDBRIDGE=target/release/boardbridge tests/page/pair.py
"""

from __future__ import annotations

import socket
import tempfile
import threading
from pathlib import Path

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from run import BOARDBRIDGE, DESK, PHONE, Page, Program, free_port, until

CONFIG = """
[uci]
listen = "127.0.0.1:0"
[status]
listen = "off"
[livechess]
listen = "off"
[games]
directory = "off"
[state]
directory = "off"
[web]
listen = "0.0.0.0:{web}"
control = "paired"
[boards.secret]
kind = "novag-ucb"
serial = {{ port = "/nowhere/one" }}
"""


def pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        # One end is closed: so is the other.
        source.close()
        target.close()


def relay(port: int, web: int) -> None:
    """Passes connections on, as from another machine."""
    with socket.create_server(("127.0.0.1", port)) as server:
        while True:
            near, _ = server.accept()
            far = socket.create_connection(("127.0.0.1", web), source_address=("127.0.0.2", 0))
            for pair in [(near, far), (far, near)]:
                threading.Thread(target=pump, args=pair, daemon=True).start()


def shown(page: Page, selector: str) -> bool:
    found = page.driver.find_elements(By.CSS_SELECTOR, selector)
    return bool(found) and found[0].is_displayed()


def fits(page: Page) -> None:
    width = page.driver.execute_script("return document.documentElement.scrollWidth")
    assert width <= PHONE[0], f"{width} px are wider than the phone"


def close(page: Page) -> None:
    """The page asks before it is paired, and is told 403; nothing else went wrong."""
    log = [entry["message"] for entry in page.driver.get_log("browser")]
    page.driver.quit()
    log = [line for line in log if not any(f" {status} " in line for status in [403, 409])]
    log = [line for line in log if "net::ERR" not in line]
    assert not log, log


def main() -> None:
    web, near = free_port(), free_port()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bb.toml").write_text(CONFIG.format(web=web))
        daemon = Program([BOARDBRIDGE, "run", "--config", str(folder / "bb.toml")], folder / "log")
        threading.Thread(target=relay, args=(near, web), daemon=True).start()
        try:
            until("the daemon", lambda: not socket.socket().connect_ex(("127.0.0.1", web)))
            both(f"http://127.0.0.1:{web}/", f"http://127.0.0.1:{near}/")
        finally:
            daemon.kill()
    print("phones are paired as they should be")


def both(here: str, there: str) -> None:
    print("a phone that is not paired")
    for dark in [True, False]:
        phone = Page(there, PHONE, dark)
        until("the question for the code", lambda: shown(phone, "#pair"))
        assert not shown(phone, "nav") and not shown(phone, "#boards") and not phone.text("#all").strip()
        assert "secret" not in phone.driver.page_source
        phone.accessible(f"how to pair, {'dark' if dark else 'light'}")
        fits(phone)
        # Looking away and back asks for nothing.
        phone.hide(True)
        phone.hide(False)
        assert phone.text("#line") == "not paired yet"
        if dark:
            close(phone)
    active = phone.driver.switch_to.active_element
    assert active.get_attribute("id") == "pair-code"
    active.send_keys("000000", Keys.ENTER)
    until("no code is shown", lambda: "No code is shown" in phone.text("#pair .notice"))

    print("the computer shows a code")
    desk = Page(here, DESK)
    until("the board", lambda: shown(desk, "#board-secret"))
    desk.turn_to("settings")
    until("the button", lambda: shown(desk, "#pair-show"))
    desk.one("#pair-show").send_keys(Keys.ENTER)
    code = until("the code", lambda: desk.text("#phones .code"))
    assert shown(desk, "#phones .qr")
    desk.accessible("a code is shown")
    wrong = str((int(code.replace(" ", "")) + 1) % 1_000_000).zfill(6)
    for entered, told in [(wrong, "not the code"), (code, "")]:
        phone.one("#pair-code").send_keys(Keys.CONTROL, "a")
        phone.one("#pair-code").send_keys(entered)
        phone.one("#pair-code").send_keys(Keys.ENTER)
        if told:
            until(told, lambda: told in phone.text("#pair .notice"))
    until("the boards on the phone", lambda: shown(phone, "#board-secret"))
    until("the computer says it", lambda: "is paired" in desk.text("#phones [role=status]"))
    assert not shown(phone, "#pair")

    print("a phone that is paired")
    phone.turn_to("settings")
    until("the list", lambda: "(this one)" in phone.text("#phones li"))
    assert not shown(phone, "#pair-show")
    phone.accessible("the phones, on one")
    fits(phone)

    print("a phone that scans")
    desk.one("#pair-show").click()
    code = until("another code", lambda: desk.text("#phones .code")).replace(" ", "")
    other = Page(f"{there}#pair={code}", PHONE)
    until("the code is there", lambda: shown(other, "#pair-code"))
    assert other.one("#pair-code").get_attribute("value") == code
    assert code not in other.driver.current_url
    other.driver.switch_to.active_element.send_keys(Keys.ENTER)
    until("the boards", lambda: shown(other, "#board-secret"))

    print("a phone that is lost")
    button = "#phones li:nth-child(2) button"
    until("two phones", lambda: shown(desk, button))
    desk.one(button).click()
    until("the second press", lambda: "again" in desk.text(button))
    desk.accessible("the phones, on the computer")
    desk.one(button).click()
    until("it asks for a code", lambda: shown(other, "#pair"))
    until("the first one stays", lambda: shown(phone, "#phones"))
    for page in [other, phone, desk]:
        close(page)


if __name__ == "__main__":
    main()
