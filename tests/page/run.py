#!/usr/bin/env python3
"""The page in a real browser: Debian's Chromium, by WebDriver, on a phone's and a desk's size.

The boards are those of `boardbridge demo`: at first two of them play by themselves, then python-chess plays on each by UCI, and
their hands move. Then every button, with an opponent that takes everything (`examples/page.rs`). axe-core looks at every part of
the page, in light and dark. The browser's voice and its wake lock are replaced by ones that note what is asked of them, and the tones of sounds are counted.

    BOARDBRIDGE=target/release/boardbridge RIG=target/release/examples/page tests/page/run.py [--pictures docs]
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any, TextIO, TypeVar

import chess
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.chrome.remote_connection import ChromeRemoteConnection
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

REPOSITORY = Path(__file__).resolve().parents[2]
BOARDBRIDGE = os.environ.get("BOARDBRIDGE", str(REPOSITORY / "target/debug/boardbridge"))
RIG = os.environ.get("RIG", str(REPOSITORY / "target/debug/examples/page"))
AXE = (files("axe_playwright_python") / "axe.min.js").read_text()
# The time limit for anything awaited.
PATIENCE_S = 60.0
BOARDS = ["citrine", "neo", "ucb"]
# The boards that play by themselves, and how their first game begins, in spoken words.
LINKED = ["citrine", "ucb"]
OPENING = [
    *["e4", "e5", "knight f3", "d6", "d4", "bishop g4", "d takes e5", "bishop takes f3", "queen takes f3", "d takes e5"],
    *["bishop c4", "knight f6", "queen b3", "queen e7", "knight c3", "c6", "bishop g5", "b5", "knight takes b5", "c takes b5"],
]
# The voice and the wake lock, in each page before its own script.
NOTED = """
window.noted = { spoken: [], locks: [], tones: [] };
const oscillator = AudioContext.prototype.createOscillator;
AudioContext.prototype.createOscillator = function () { noted.tones.push(this.state); return oscillator.call(this); };
Object.defineProperty(window, "speechSynthesis", { value: { speak: (words) => noted.spoken.push(words.text) } });
Object.defineProperty(navigator, "wakeLock", { value: { request: async (kind) => {
  noted.locks.push(kind);
  return { released: false, release() { this.released = true; noted.locks.push("released"); } };
} } });
"""
T = TypeVar("T")
PHONE, DESK = (390, 844), (1280, 800)
SAYINGS = ["ready", "new-game", "draw", "take-back", "decline", "resign", "abort", "berserk"]


def free_port() -> int:
    """A port that is free now, and stays the daemon's through a restart."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def until(what: str, test: Callable[[], T]) -> T:
    """Waits until this is true, and returns it."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            if found := test():
                return found
        except StaleElementReferenceException:
            pass
        time.sleep(0.05)
    raise AssertionError(f"not within {PATIENCE_S:.0f} s: {what}")


class Program:
    """A program of ours, with its log in a file."""

    def __init__(self, command: list[str], log: Path, **variables: str) -> None:
        self.command, self.log, self.variables = command, log, variables
        self.start()

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.command, env=os.environ | self.variables, stdout=log, stderr=log, start_new_session=True
            )

    def stop(self) -> None:
        self.process.terminate()
        assert self.process.wait(PATIENCE_S) == 0, self.log.read_text()[-2000:]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


class Gui(threading.Thread):
    """A chess program at one board: the hand plays White, it answers at random. With `fen` it states this position and waits."""

    def __init__(self, port: int, board: str, seed: int, fen: str | None = None) -> None:
        super().__init__(daemon=True)
        self.port, self.board, self.fen, self.random = port, board, fen, random.Random(seed)
        self.start()

    def run(self) -> None:
        try:
            with socket.create_connection(("127.0.0.1", self.port)) as connection:
                stream = connection.makefile("rw", buffering=1, newline="\n")
                stream.write(f"uci\nsetoption name Board value {self.board}\n")
                while self.play(stream):
                    pass
        except OSError:
            # The daemon was stopped.
            return

    def play(self, stream: TextIO) -> bool:
        """One game. Returns whether another one follows: chance may end it soon, and the board is watched on."""
        stream.write("ucinewgame\n")
        board = chess.Board(self.fen or chess.STARTING_FEN)
        start = f"fen {self.fen}" if self.fen else "startpos"
        while not board.is_game_over():
            moves = " ".join(move.uci() for move in board.move_stack)
            stream.write(f"position {start}{' moves ' + moves if moves else ''}\ngo\n")
            for line in stream:
                if line.startswith("bestmove"):
                    break
            else:
                return False
            if self.fen or line.split()[1] == "0000":
                return False
            board.push_uci(line.split()[1])
            if not board.is_game_over():
                board.push(self.random.choice(list(board.legal_moves)))
        return True


class Page:
    """The page in a browser."""

    def __init__(
        self,
        address: str,
        size: tuple[int, int],
        dark: bool = False,
        script: str = NOTED,
        language: str = "en",
        driver: str | None = None,
        profile: Path | None = None,
    ) -> None:
        """`driver`: where a chromedriver of another machine is. `profile`: the folder where the browser keeps its cookies."""
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or "chromium"
        for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]:
            options.add_argument(argument)
        options.add_argument(f"--accept-lang={language}")
        if profile:
            options.add_argument(f"--user-data-dir={profile}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        if driver:
            self.driver = webdriver.Remote(command_executor=ChromeRemoteConnection(driver), options=options)
        else:
            self.driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.cdp("Emulation.setDeviceMetricsOverride", metrics)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.cdp("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.cdp("Page.addScriptToEvaluateOnNewDocument", {"source": script})
        self.driver.get(address)

    def cdp(self, command: str, values: dict[str, object]) -> dict[str, Any]:
        """A command of Chromium's own."""
        return dict(self.driver.execute("executeCdpCommand", {"cmd": command, "params": values})["value"])

    def log(self) -> list[str]:
        """What the browser has to say."""
        return [entry["message"] for entry in self.driver.execute("getLog", {"type": "browser"})["value"]]

    def close(self, may_lose: bool = False) -> None:
        """Nothing was refused by the policy of the page, and no script failed."""
        log = self.log()
        self.driver.quit()
        # A page may ask for the account while it is logged out, which is answered as docs/api.md says.
        gone = "/api/v1/lichess - Failed to load resource: the server responded with a status of 404 "
        log = [line for line in log if not (may_lose and "net::ERR" in line) and " 409 " not in line and gone not in line]
        assert not log, log

    def one(self, selector: str) -> WebElement:
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector: str) -> str:
        return str(self.driver.execute_script("return document.querySelector(arguments[0])?.textContent ?? ''", selector))

    def moves(self, board: str) -> int:
        script = "return document.querySelectorAll(`#board-${arguments[0]} .moves li`).length"
        return int(self.driver.execute_script(script, board))

    def noted(self, what: str) -> list[str]:
        """What was `spoken`, or the `locks` taken and released."""
        return list(self.driver.execute_script("return window.noted[arguments[0]]", what))

    def hide(self, hidden: bool) -> None:
        """As if another page were looked at."""
        self.driver.execute_script(
            """Object.defineProperty(document, "hidden", { value: arguments[0], configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));""",
            hidden,
        )

    def enlarge(self, board: str) -> None:
        """Makes a board the large one, by keyboard."""
        if "aside" in str(self.one(f"#board-{board}").get_attribute("class")):
            self.one(f"#board-{board} .enlarge").send_keys(Keys.ENTER)
        until(f"{board} is large", lambda: self.driver.find_elements(By.CSS_SELECTOR, f"#large > #board-{board}:not(.aside)"))

    def turn_to(self, part: str) -> None:
        self.one(f"nav a[href='#{part}']").click()
        until(part, lambda: self.one(f"#{part}").is_displayed())

    def accessible(self, what: str) -> None:
        self.driver.execute_script(AXE)
        found = self.driver.execute_async_script("axe.run().then(arguments[0])")
        wrong = [(one["id"], [node["html"] for node in one["nodes"]]) for one in found["violations"]]
        assert not wrong, (what, wrong)
        print(f"  axe: {len(found['passes'])} rules hold, {what}")

    def press(self, board: str, button: str) -> str:
        """Presses a button, again if it asks for that; returns what the page says then."""
        selector = f"#board-{board} [data-button='{button}']"
        answer = f"#board-{board} .answer"
        self.driver.execute_script("document.querySelector(arguments[0]).textContent = ''", answer)
        if not self.one(selector).is_displayed():
            self.one(f"#board-{board} .menu summary").click()
        self.one(selector).click()
        if "press again" in self.text(selector):
            self.one(selector).click()
        return until(f"an answer to {button}", lambda: self.text(answer))

    def picture(self, file: Path) -> None:
        self.driver.save_screenshot(str(file))
        assert file.stat().st_size < 200_000, file


def sees_games(page: Page, boards: list[str], moves: int = 3) -> None:
    """Every board is there, and moves appear one by one on these."""
    until("all boards", lambda: sorted(e.text for e in page.driver.find_elements(By.CSS_SELECTOR, "#all h2")) == BOARDS)
    page.driver.execute_script(
        """window.seen = {}; window.said = new Set();
        for (const name of arguments[0]) {
          const list = document.querySelector(`#board-${name} .moves`);
          const note = () => { const l = window.seen[name] ??= []; if (l.at(-1) !== list.children.length) l.push(list.children.length); };
          note();
          new MutationObserver(note).observe(list, { childList: true });
        }
        const said = document.getElementById("said");
        new MutationObserver(() => window.said.add(said.textContent)).observe(said, { childList: true });""",
        boards,
    )

    def steps(board: str) -> list[int]:
        seen = page.driver.execute_script("return window.seen[arguments[0]]", board)
        return [after - before for before, after in zip(seen, seen[1:])]

    for board in boards:
        # The game may end meanwhile, and the next one begin.
        until(f"moves on {board}", lambda board=board: sum(step > 0 for step in steps(board)) >= moves)
        assert all(step <= 2 for step in steps(board)), (board, steps(board))
    until("the move to make", lambda: page.driver.find_elements(By.CSS_SELECTOR, "#board-citrine [data-arrow]"))
    said = page.driver.execute_script("return [...window.said]")
    for board in boards:
        assert any(text.startswith(board + ": ") for text in said), said
    print("  moves announced:", said[:4])


def speaks(page: Page) -> None:
    """Every move of the first game is spoken, once, in words."""
    for board in LINKED:
        spoken = [text.removeprefix(f"{board}: ") for text in page.noted("spoken") if text.startswith(f"{board}: ")]
        moves = [words for words in spoken if words in OPENING]
        follows = any(OPENING[at : at + len(moves)] == moves for at in range(len(OPENING)))
        assert len(moves) >= 3 and follows, spoken


def stays_level(page: Page) -> None:
    """Boards beside each other are level, whatever there is to say of them."""
    tops = """return [...document.querySelectorAll("#small .picture")].map((one) => one.getBoundingClientRect().top)"""
    before = page.driver.execute_script(tops)
    assert len(set(before)) == 1 or page.driver.execute_script("return innerWidth") > 600, before
    page.driver.execute_script("""for (const one of document.querySelectorAll("#small .do, #large .do")) one.textContent = "long words ".repeat(20)""")
    assert page.driver.execute_script(tops) == before, "the boards have moved"
    page.driver.execute_script("for (const board of boards.values()) board.show()")


def enlarges(page: Page) -> None:
    """Enter makes another board the large one, and the address keeps it."""
    page.enlarge("ucb")
    assert page.driver.current_url.endswith("#board-ucb")
    assert page.driver.switch_to.active_element.get_attribute("id") == "board-ucb"
    page.driver.refresh()
    until("it is large again", lambda: page.driver.find_elements(By.CSS_SELECTOR, "#large > #board-ucb"))
    assert len(page.driver.find_elements(By.CSS_SELECTOR, "#small > .aside")) == len(BOARDS) - 1
    page.turn_to("boards")
    page.enlarge("citrine")


def menu_by_keyboard(page: Page, board: str) -> None:
    """The menu opens by Enter, Tab goes into it, Escape closes it."""
    summary = page.one(f"#board-{board} .menu summary")
    summary.send_keys(Keys.ENTER)
    until("the menu", lambda: page.one(f"#board-{board} .turn").is_displayed())
    summary.send_keys(Keys.TAB)
    focused = "return Boolean(document.activeElement.closest('.sheet'))"
    until("the first choice", lambda: page.driver.execute_script(focused))
    page.accessible("the open menu")
    page.driver.switch_to.active_element.send_keys(Keys.ESCAPE)
    assert not page.one(f"#board-{board} .turn").is_displayed()
    assert page.driver.switch_to.active_element == summary


def fits(page: Page, board: str) -> None:
    """The players, the board, the clocks and what to press now are on the screen at once."""
    for part in [".state", ".table", ".buttons"]:
        script = "const at = document.querySelector(arguments[0]).getBoundingClientRect(); return [at.top, at.bottom, innerHeight]"
        top, bottom, height = page.driver.execute_script(script, f"#board-{board} {part}")
        assert top >= 0 and bottom <= height, (part, top, bottom, height)


def can_be_installed(page: Page) -> None:
    """The manifest is one, and a phone can put the page on its screen."""
    manifest = page.cdp("Page.getAppManifest", {})
    assert '"start_url"' in manifest["data"] and not manifest["errors"], manifest
    missing = page.cdp("Page.getInstallabilityErrors", {})["installabilityErrors"]
    assert not missing, missing


def speaks_german(address: str) -> None:
    """A German browser has the page in German, with no word missing; the choice of another language is kept."""
    print("in German")
    page = Page(address, PHONE, language="de")
    until("the boards", lambda: page.text("#board-neo h2"))
    assert page.text("nav [aria-current]") == "Bretter"
    assert page.one("html").get_attribute("lang") == "de"
    until("the task in German", lambda: any(word in page.text("#board-citrine .do") for word in [" nach ", " schlägt ", " am Zug", "Rochade"]))
    keys = page.driver.execute_script("return Object.values(WORDS).map((words) => Object.keys(words).join())")
    assert len(set(keys)) == 1, "the languages have different keys"
    unknown = """const keys = new Set(Object.keys(WORDS.en));
        const all = [...document.querySelectorAll("[data-t], [data-label]"), ...document.getElementById("board").content.querySelectorAll("[data-t], [data-label]")];
        return all.flatMap(({ dataset }) => [dataset.t, dataset.label]).filter((key) => key && !keys.has(key))"""
    assert page.driver.execute_script(unknown) == []
    page.accessible("boards, German")
    page.turn_to("settings")
    page.driver.execute_script("const all = document.getElementById('language'); all.value = 'en'; all.dispatchEvent(new Event('change'))")
    until("English", lambda: page.text("nav [aria-current]") == "Settings")
    page.driver.refresh()
    until("English again", lambda: page.text("nav [aria-current]") == "Settings")
    page.close()


def ends(page: Page, uci: int) -> None:
    """A game that is over has a card: who won and how, the game as PGN, and a link that tells Lichess nothing before it is pressed."""
    print("a game that ends")
    with socket.create_connection(("127.0.0.1", uci)) as program:
        page.enlarge("ucb")
        assert "Done" in page.press("ucb", "release")
        until("the program has left", lambda: not page.text("#board-ucb .with").startswith("Plays here: a chess program"))
        program.sendall(b"uci\nsetoption name Board value ucb\nucinewgame\nposition startpos moves f2f3 e7e5 g2g4 d8h4\n")
        until("the card", lambda: page.one("#board-ucb .end").is_displayed())
        # The link's hand plays Black.
        assert page.text("#board-ucb .result") in ["You won 0–1", "Black won 0–1"]
        assert page.text("#board-ucb .how") == "by checkmate"
        link = page.one("#board-ucb .lichess").get_attribute("href")
        assert link == "https://lichess.org/analysis/pgn/f3%20e5%20g4%20Qh4%23", link
        game = page.driver.execute_script("return pgn(boards.get('ucb').state)")
        assert game.endswith("\n\n1. f3 e5 2. g4 Qh4# 0-1\n") and '[Result "0-1"]' in game, game
        tags = page.driver.execute_script("return startTags('rkbqnbnr/pppppppp/8/8/8/8/PPPPPPPP/RKBQNBNR w KQkq - 0 1')")
        assert tags["Variant"] == "Chess960", tags
        assert "Variant" not in page.driver.execute_script("return startTags('4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1')")
        assert page.driver.find_elements(By.CSS_SELECTOR, "#board-ucb svg .check"), "the king is in check"
        page.accessible("the card at the end")


def keeps_awake(page: Page) -> None:
    """While a game is on and the page is seen, the screen stays on."""
    until("a wake lock", lambda: page.noted("locks") == ["screen"])
    page.hide(True)
    until("none when hidden", lambda: page.noted("locks") == ["screen", "released"])
    page.hide(False)
    until("one again", lambda: page.noted("locks") == ["screen", "released", "screen"])


@contextmanager
def demonstration(folder: Path, web: int, uci: int) -> Iterator[Program]:
    demo = Program(
        [BOARDBRIDGE, "demo"],
        folder / "demo.log",
        BOARDBRIDGE_WEB__LISTEN=f"127.0.0.1:{web}",
        BOARDBRIDGE_UCI__LISTEN=f"127.0.0.1:{uci}",
        BOARDBRIDGE_STATUS__LISTEN="127.0.0.1:0",
        BOARDBRIDGE_GAMES__DIRECTORY=str(folder / "games"),
    )
    try:
        yield demo
    finally:
        demo.kill()


def boards_are_up(web: int) -> None:
    """Waits for the boards."""

    def answers() -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{web}/api/v1/boards", timeout=PATIENCE_S) as answer:
                return answer.read().count(b'"link":"down"') == 0
        except OSError:
            return False

    until("the boards", answers)


def begins(uci: int) -> None:
    """Begins a game on each board, which leaves that of the demonstration."""
    for seed, board in enumerate(BOARDS):
        Gui(uci, board, seed)


def games_are_watched(folder: Path, pictures: Path | None) -> None:
    web, uci = free_port(), free_port()
    address = f"http://127.0.0.1:{web}/"
    with demonstration(folder, web, uci) as demo:
        boards_are_up(web)
        for size, name in [(PHONE, "phone"), (DESK, "desk")]:
            print(f"by itself, on a {name}")
            page = Page(address, size)
            if size == PHONE:
                page.turn_to("settings")
                page.one("#speech").click()
                page.one("#sounds").click()
                until("a sound", lambda: page.noted("tones"))
                page.turn_to("boards")
            sees_games(page, LINKED, moves=4 if size == PHONE else 2)
            if size == PHONE:
                speaks(page)
            else:
                assert page.noted("spoken") == page.noted("tones") == [], "speech and sounds are off at first"
            keeps_awake(page)
            width = page.driver.execute_script("return document.documentElement.scrollWidth")
            assert width <= size[0], f"{width} px are wider than the {name}"
            page.accessible(f"boards, {name}")
            stays_level(page)
            if pictures:
                page.picture(pictures / f"page-{name}.png")
            enlarges(page)
            menu_by_keyboard(page, "citrine")
            can_be_installed(page)
            page.close()
        speaks_german(address)
        page = Page(address + "#desk", PHONE)
        until("why nothing can be added", lambda: "without a configuration file" in page.text("#desk-why"))
        page.accessible("play, phone")
        page.close()
        print("in the dark")
        begins(uci)
        page = Page(address, PHONE, dark=True)
        sees_games(page, BOARDS)
        page.accessible("boards, dark")
        kept_games(page, folder)
        settings(page)
        print("the daemon is stopped and started again")
        page.turn_to("boards")
        demo.stop()
        until("the loss is shown", lambda: "lost" in page.text("#line"))
        demo.start()
        boards_are_up(web)
        # The browser takes its time; the first moves are to be seen.
        until("it is back", lambda: page.text("#line") == "connected")
        begins(uci)
        until("moves again", lambda: 0 < page.moves("citrine") < 5)
        sees_games(page, BOARDS)
        held_boards(page, uci)
        ends(page, uci)
        page.close(may_lose=True)


def kept_games(page: Page, folder: Path) -> None:
    """The games are listed, replayed by keys, and can be saved."""
    print("kept games")
    until("a kept game", lambda: list((folder / "games").glob("*.pgn")))
    page.turn_to("games")
    until("the list", lambda: page.driver.find_elements(By.CSS_SELECTOR, "#list li"))
    link = page.one("#list a").get_attribute("href")
    with urllib.request.urlopen(str(link)) as answer:
        assert answer.read().startswith(b"[Event "), link
    page.one("#list button").click()
    until("the replay", lambda: page.one("#replay").is_displayed())
    label = lambda: page.one("#replay-board svg").get_attribute("aria-label")
    assert "at the start" in str(label())
    body = page.one("body")
    body.send_keys(Keys.ARROW_RIGHT)
    until("a step on", lambda: "Position after" in str(label()))
    body.send_keys(Keys.ARROW_LEFT)
    until("a step back", lambda: "at the start" in str(label()))
    for to in ["on", "back", "last", "first"]:
        page.one(f"#replay [data-to='{to}']").click()
    body.send_keys(Keys.END)
    assert "now" in str(page.one("#replay-moves li:last-child").get_attribute("class")).split()
    page.accessible("games and replay, dark")
    page.one("#replay [data-to='close']").click()
    assert not page.one("#replay").is_displayed()


def settings(page: Page) -> None:
    page.turn_to("settings")
    until("the settings", lambda: "this machine only" in page.text("#values"))
    speech = page.one("#speech")
    for state in [True, False]:
        speech.click()
        assert speech.is_selected() == state
    page.one("#about summary").click()
    page.accessible("settings, dark")


def held_boards(page: Page, uci: int) -> None:
    """The buttons of a board that a chess program has."""
    print("a board with a chess program")
    page.enlarge("citrine")
    page.one("#board-citrine .menu summary").click()
    page.one("#board-citrine .turn").click()
    assert "Done" in page.press("citrine", "ready")
    assert "Done" in page.press("citrine", "release")
    until("the program has left", lambda: not page.text("#board-citrine .with").startswith("Plays here: a chess program"))
    Gui(uci, "citrine", 0, fen="8/P6k/8/8/8/8/8/K7 w - - 0 1")
    until("the choice", lambda: page.driver.find_elements(By.CSS_SELECTOR, "#board-citrine [data-button='promotionn']"))
    assert "Done" in page.press("citrine", "promotionn")
    print("a board that senses its squares")
    page.enlarge("neo")
    assert "Done" in page.press("neo", "release")
    until("the program has left", lambda: not page.text("#board-neo .with").startswith("Plays here: a chess program"))
    Gui(uci, "neo", 0, fen="8/P6k/8/8/8/8/8/K7 w - - 0 1")
    for mark in [".wrong", ".awaited", "[data-arrow]"]:
        selector = f"#board-neo svg {mark}"
        until(f"{mark} on the board", lambda selector=selector: page.driver.find_elements(By.CSS_SELECTOR, selector))
    until("what to put right", lambda: page.text("#board-neo .list"))


def every_button(folder: Path) -> None:
    """The buttons of a game against an opponent, and those that may not be pressed."""
    log = folder / "rig.log"
    for control in ["local", "nobody"]:
        print(f"control = {control}")
        web = free_port()
        rig = Program([RIG, f"127.0.0.1:{web}", control], log)
        try:
            until("the rig", lambda: not socket.socket().connect_ex(("127.0.0.1", web)))
            page = Page(f"http://127.0.0.1:{web}/", PHONE)
            selector = "#board-far [data-button]"
            until("the buttons", lambda: len(page.driver.find_elements(By.CSS_SELECTOR, selector)) == len(SAYINGS))
            assert page.noted("locks") == [], "no game is on at the board"
            assert "good luck" in page.text("#board-far .chat")
            assert "offers a draw" in page.text("#board-far .notice")
            clock = page.text("#board-far .mine .clock")
            until("the clock runs", lambda: page.text("#board-far .mine .clock") != clock)
            fits(page, "far")
            buttons = page.driver.find_elements(By.CSS_SELECTOR, selector)
            if control == "nobody":
                assert not any(button.is_enabled() for button in buttons)
                assert "Control is off" in page.text("#board-far .reason")
            else:
                for saying in SAYINGS:
                    answer = page.press("far", saying)
                    assert ("gone too far" if saying == "abort" else "Done") in answer, answer
                assert [line for line in log.read_text().splitlines() if line in SAYINGS] == SAYINGS
            page.accessible(f"an opponent, control = {control}")
            page.close()
        finally:
            rig.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=Path, help="write the pictures of the documents there")
    pictures = parser.parse_args().pictures
    with tempfile.TemporaryDirectory() as name:
        every_button(Path(name))
        games_are_watched(Path(name), pictures)
    print("the page is as it should be")


if __name__ == "__main__":
    main()
