"""The host's part where no file names the board: *Add* is pressed on the page in Chromium, then the game of neo.py is played.

Without Chromium the board is added by what the page sends.
"""

import json
import os
import shutil
import sys
import urllib.request
from pathlib import Path

import neo

PAGE = f"http://127.0.0.1:{os.environ['VM_PORT_9660']}"
BOARD = "neo"


def press() -> None:
    sys.path.append(str(Path(__file__).parents[1] / "page"))
    from run import DESK, Page, until
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    page = Page(f"{PAGE}/", DESK)
    page.turn_to("desk")
    until("the board is found", lambda: page.driver.find_elements(By.CSS_SELECTOR, "#found li"))
    page.one("#found li input").send_keys(Keys.CONTROL, "a")
    page.one("#found li input").send_keys(BOARD)
    page.one("#found li button").click()
    until("it can be played on", lambda: page.driver.find_elements(By.CSS_SELECTOR, "#at-boards li button"))
    page.close()


def send() -> None:
    with urllib.request.urlopen(f"{PAGE}/api/v1/found") as answer:
        [found] = [found for found in json.load(answer) if found["kinds"] == ["miko-neo"]]
    headers = {"Origin": PAGE, "Content-Type": "application/json"}
    body = json.dumps({"name": BOARD}).encode()
    request = urllib.request.Request(f"{PAGE}/api/v1/found/{found['id']}/add", body, headers)
    urllib.request.urlopen(request).close()


def main() -> int:
    if shutil.which("chromium") and shutil.which("chromedriver"):
        press()
    else:
        print("chromium and chromedriver are not here: added without a press")
        send()
    return neo.main()


if __name__ == "__main__":
    sys.exit(main())
