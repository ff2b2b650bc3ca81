#!/usr/bin/env python3
"""A phone belongs to the house by a code, in a real browser: on a phone's size, by keyboard, in light and dark.

Two browsers: one on BoardBridge's computer, which shows the code, and one on the phone, which is another machine for the kernel: a
network namespace with a cable to this one. That takes root.

    BOARDBRIDGE=target/release/boardbridge tests/page/pair.py
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def other_machine() -> Iterator[tuple[str, str]]:
    """Yields this machine's address for the other one, and where the other one's chromedriver is."""
    number = os.getpid() % 65536
    name, net = f"bb{number}", f"10.{number // 256}.{number % 256}"
    ip("netns", "add", name)
    driver = None
    try:
        ip("link", "add", f"{name}a", "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("address", "add", f"{net}.1/30", "dev", f"{name}a")
        ip("link", "set", f"{name}a", "up")
        ip("-n", name, "address", "add", f"{net}.2/30", "dev", "eth0")
        for link in ["lo", "eth0"]:
            ip("-n", name, "link", "set", link, "up")
        driver = subprocess.Popen(
            ["ip", "netns", "exec", name, "chromedriver", "--port=9515", "--allowed-ips=", "--allowed-origins=*"],
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        until("the other machine", lambda: not socket.socket().connect_ex((f"{net}.2", 9515)))
        yield f"{net}.1", f"http://{net}.2:9515"
    finally:
        if driver:
            os.killpg(driver.pid, signal.SIGKILL)
            driver.wait()
        ip("netns", "delete", name)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def shown(page: Page, selector: str) -> bool:
    found = page.driver.find_elements(By.CSS_SELECTOR, selector)
    return bool(found) and found[0].is_displayed()


def fits(page: Page) -> None:
    width = page.driver.execute_script("return document.documentElement.scrollWidth")
    assert width <= PHONE[0], f"{width} px are wider than the phone"


def close(page: Page) -> None:
    """The page asks before it is paired, and is told 403; nothing else went wrong."""
    log = page.log()
    page.driver.quit()
    log = [line for line in log if not any(f" {status} " in line for status in [403, 409])]
    log = [line for line in log if "net::ERR" not in line]
    assert not log, log


def main() -> None:
    if os.geteuid() != 0 or subprocess.run(["unshare", "--net", "true"], check=False).returncode:
        print("not tried: it takes root, and a network of its own")
        return
    web = free_port()
    with tempfile.TemporaryDirectory() as name, other_machine() as (address, driver):
        folder = Path(name)
        (folder / "bb.toml").write_text(CONFIG.format(web=web))
        daemon = Program([BOARDBRIDGE, "run", "--config", str(folder / "bb.toml")], folder / "log")
        try:
            until("the daemon", lambda: not socket.socket().connect_ex(("127.0.0.1", web)))
            both(f"http://127.0.0.1:{web}/", f"http://{address}:{web}/", driver)
        finally:
            daemon.kill()
    print("phones are paired as they should be")


def both(here: str, there: str, driver: str) -> None:
    print("a phone that is not paired")
    for dark in [True, False]:
        phone = Page(there, PHONE, dark, driver=driver)
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
    other = Page(f"{there}#pair={code}", PHONE, driver=driver)
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
