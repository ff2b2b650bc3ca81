#!/usr/bin/env python3
"""Every view of the page in a real browser, in states that are made up: on a phone's and a desk's size, light and dark, in English and
German, with text of twice the size. axe-core finds nothing, nothing is cut off or wider than the screen, and no board moves when its
words change. The page's files are served from the sources, so this needs no daemon; that the daemon sends such states is what the
other tests of this folder and `docs/*.schema.json` are for.

    tests/page/views.py [--pictures FOLDER]
"""

from __future__ import annotations

import argparse
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import chess

from run import PHONE, REPOSITORY, Page, until
from selenium.webdriver.common.keys import Keys

FILES = REPOSITORY / "src/front_end/web/page"
DESK = (1440, 900)
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".png": "image/png"}
AT = "2026-11-27T21:00:00.000Z"
ITALIAN = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 c2c3 g8f6 d2d4 e5d4 c3d4 c5b4"
MATE = "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7"
# The kinds of which there are pictures, and one of tomorrow.
PICTURES = re.findall(r'^  "([\w-]+)": "([\w ]+)",$', (FILES / "kinds.js").read_text(), re.MULTILINE)
SWPP = "Home-made board that speaks SWPP"
KINDS = [*((kind, SWPP if kind == "swpp" else f"A board of the kind {kind}", ["ble" if "air" in parts else "serial"]) for kind, parts in PICTURES), ("of-tomorrow", "Another", ["serial"])]
SETTINGS = {
    "version": "0.1.0", "control": "paired", "may_control": True, "may_pair": True, "why_not": None,
    "games": "/var/lib/boardbridge/games", "site": "Kitchen table", "player": None, "every_move": False, "games_fixed": [], "added": ["citrine", "neo"], "keyed": [], "started": [],
    "linked": [], "fixed": [], "programs": "here", "programs_fixed": False, "programs_at": "127.0.0.1:9670", "lichess": True,
    "lichess_board": "citrine", "lichess_chosen": None, "lichess_accept": "ask", "lichess_take_backs": "ask", "lichess_fixed": [],
    "whitepawn_tcp": None, "whitepawn_ble": "dgt", "whitepawn_rfcomm": None, "whitepawn_fixed": [], "unseen": [],
    "kinds": [{"kind": kind, "title": title, "media": media, "key": kind == "dgt-pegasus"} for kind, title, media in KINDS],
}
FOUND = [
    {"id": "a", "kinds": ["novag-citrine"], "transport": "serial", "name": "Novag Citrine",
     "why": "a Novag Citrine and sister boards, by its name (/dev/serial/by-id/usb-Novag_Citrine-if00)"},
    {"id": "b", "kinds": [kind for kind, _, media in KINDS if "serial" in media], "transport": "serial",
     "name": "FTDI FT232R USB UART", "why": "a general adapter: a board, or another device. Adding it asks what it is, which may "
     "upset a printer (/dev/serial/by-id/usb-FTDI_FT232R_USB_UART_A50285BI-if00-port0)"},
    {"id": "c", "kinds": ["miko-neo"], "transport": "ble", "name": "Square Off Neo - 1A2",
     "why": "a Miko Neo, formerly Square Off Neo, by its name (AA:BB:CC:DD:EE:FF)"},
    {"id": "d", "kinds": ["dgt-pegasus"], "transport": "ble", "name": "DGT_Pegasus_1", "why": "a DGT Pegasus, by its name (AA:BB:CC:DD:EE:00)"},
    {"id": "e", "kinds": ["swpp", "dgt-pegasus"], "transport": "ble", "name": "Nordic_UART", "why": "has a service that home-made boards and a "
     "DGT Pegasus have; other things have it, too (AA:BB:CC:DD:EE:01)"},
]
CLOCKS = {"white": 754.0, "black": 61.5, "at": AT, "runs": "white"}
LONG = "the board does not answer: is it switched on and connected, and is its `kind` right? With the service stopped, " \
    "`boardbridge scan --probe` asks what is at a cable"


def state(board: str, moves: str = "", **more: Any) -> dict[str, Any]:
    """A board in this game."""
    position, sans = chess.Board(), []
    last = None
    for uci in moves.split():
        move = chess.Move.from_uci(uci)
        san = position.san(move)
        color = "white" if position.turn else "black"
        last = {"uci": uci, "san": san, "number": position.fullmove_number, "color": color, "by": "hand", "took": 7.5}
        sans.append(san)
        position.push(move)
    return {
        "event": "snapshot", "at": AT, "board": board, "link": "up", "why": None, "transport": "/dev/ttyUSB0 at 57600 baud",
        "id": "Citrine", "battery": None, "game": "startpos" + (" moves " + moves if moves else ""), "fen": position.fen(),
        "san": sans, "ply": len(sans), "turn": "white" if position.turn else "black", "last": last,
        "took": [7.5 if at % 2 == 0 else None for at in range(len(sans))], "sure": True, "ending": None, "outcome": None,
        "ended_by": None, "result": None, "target": None, "awaiting": False, "advice": "", "make": None, "guidance": [],
        "holders": [], "waiting": [], "pairing": None,
    } | more


def pairing(**more: Any) -> dict[str, Any]:
    """A game on Lichess against somebody with a long name."""
    return {
        "white": {"name": "Anna_from_the_kitchen", "rating": 1512}, "black": {"name": "MagnificentGrandmaster", "title": "GM", "rating": 2840},
        "hand": "white", "tournament": "rated blitz game", "site": "https://lichess.org/abcdefgh", "clocks": CLOCKS,
        "clock_times": [], "evaluation": None, "offer": None, "chat": [], "notice": None, "can": ["draw", "take-back", "resign"],
    } | more


LICHESS = {"holders": ["Lichess"], "awaiting": True, "pairing": pairing(), "battery": 87}
ADVICE = {
    "make": {"advice": "make the move c5b4 on the board", "make": "c5b4", "holders": ["Lichess"], "pairing": pairing(clocks=None)},
    "mistake": {"advice": "d1d8 was made instead of c5b4: please correct it", "make": None, "holders": ["Lichess"],
                "guidance": [{"piece": "Q", "from": "d8", "to": "d1"}, {"piece": "b", "from": "c5", "to": "b4"}]},
    "set up": {"advice": "set up the position, then press 'Board ready' or just move (FEN 8/8/8/8/8/8/8/K6k w - - 0 1)",
               "guidance": [{"piece": "P", "from": square + "2", "to": None} for square in "abcdefgh"]},
    "put up": {"guidance": [{"piece": "P", "from": None, "to": "e4"}], "holders": ["the engine Stockfish 16"], "pairing": pairing(clocks=None)},
    "unknown": {"advice": "it is not known how the pieces stand. Put them on their starting squares and move, or begin a game in a program"},
    "analysed": {"advice": "your program only analyses: it gets e2e4 when it stops. To play, choose a clock in the program, not infinite",
                 "holders": ["192.168.1.7:50112 (disconnected)"], "waiting": ["the WhitePawn app (tcp 127.0.0.1:9690)"]},
    "silent": {"link": "silent", "why": LONG, "advice": LONG},
    "waits": {"holders": ["the engine Stockfish 16"], "pairing": pairing(clocks=None, notice="new game: you play Black; the engine begins "
              "when the pieces stand at the start", offer="draw", can=["new-game", "ready", "draw", "decline"], chat=["GM: good luck"])},
}
DOWN = {"link": "down", "why": "there is no /dev/ttyUSB1: is the cable plugged in, and does `boardbridge scan` show another name?"}
DOWN |= {"advice": "no link to the board: " + DOWN["why"]}
OVER = {"ending": "checkmate", "outcome": "1-0", "ended_by": "rules", "holders": [], "pairing": pairing(can=[], clocks=CLOCKS | {"runs": None})}
RESIGNED = {"ending": "resignation", "outcome": "0-1", "ended_by": "program", "holders": ["the engine Stockfish 16"], "pairing": pairing(can=["new-game"], clocks=None)}
SHOWN = {"advice": "shown: c5b4. Make it if you have not, then your move.", "make": "c5b4", "target": "startpos moves " + ITALIAN}
MATING = {"advice": "make the move h5f7 on the board", "make": "h5f7"}
NEXT = {"advice": "new game: put the pieces on their starting squares, then press 'Board ready' or just move", "target": "startpos",
        "guidance": [{"piece": "b", "from": "b4", "to": "f8"}]}
FOUR = [state("citrine", ITALIAN, **LICHESS), state("dgt", "e2e4", **DOWN), state("neo", ITALIAN, **ADVICE["mistake"]), state("ucb", MATE, **OVER)]
ACCOUNT = {"board": "citrine", "url": "https://lichess.org", "user": "Anna_from_the_kitchen", "connected": True, "problem": None, "seek": None,
           "challenges": [], "games": [], "last": None}
CHALLENGE = {"id": "a", "own": False, "player": "MagnificentGrandmaster", "rating": 2840, "time": "15+10", "rated": True}
CHALLENGED = ACCOUNT | {
    "seek": "30+20", "last": "MagnificentGrandmaster challenges you (15+10, rated): `boardbridge lichess accept` or `decline`",
    "challenges": [CHALLENGE, CHALLENGE | {"id": "b", "time": "no clock", "rated": False, "unfit": "the variant crazyhouse cannot be played on a board"},
                   CHALLENGE | {"id": "c", "own": True, "player": "Somebody"}],
    "games": [{"id": "d", "opponent": "Other", "speed": "bullet", "on_board": False, "unfit": "Lichess lets boards play no bullet"}],
}


# What is wrong, of all views.
faults: list[tuple[Any, ...]] = []


class Scene:
    """What the server tells."""

    def __init__(self, boards: list[dict[str, Any]], found: list[dict[str, Any]] | None = None, stranger: bool = False,
                 account: dict[str, Any] = ACCOUNT, engines: tuple[str, ...] = ("stockfish",), **more: Any) -> None:
        self.boards, self.found, self.stranger, self.account = boards, found or [], stranger, account
        self.engines = [{"name": name, "path": f"/usr/games/{name}"} for name in engines]
        self.settings = SETTINGS | more

    def answers(self, path: str) -> Any:
        games = [{"file": f"{n}.pgn", "board": "citrine", "white": "Anna", "black": "Stockfish 16", "result": "1-0", "plies": plies, "begun": AT} for n, plies in [("a", 7), ("b", 2)]]
        board = chess.Board()
        moves = []
        for uci in MATE.split():
            move = chess.Move.from_uci(uci)
            moves.append({"san": board.san(move), "uci": uci, "took": 3.5})
            board.push(move)
            moves[-1]["fen"] = board.fen()
        phones = [{"id": 1, "name": "Anna's phone", "since": AT, "you": True}, {"id": 2, "name": "The phone in the hall, on the left", "since": AT, "you": False}]
        known = {
            "settings": self.settings, "found": self.found, "engines": self.engines,
            "games": games, "games/a.pgn/moves": {"white": "Anna", "black": "Stockfish 16", "result": "1-0", "start": chess.STARTING_FEN, "moves": moves},
            "lichess": self.account, "pairs": phones, "boards/dgt/opponent": {"done": "stockfish may play at dgt"},
            "pair/code": {"code": "123456", "seconds": 120, "addresses": ["http://kitchen.local:9660", "http://192.168.1.20:9660"], "qr": {"size": 21, "path": "M0 0h7v7h-7z"}},
        }
        return known.get(path)

    def lines(self, path: str) -> list[dict[str, Any]]:
        names = [board["board"] for board in self.boards]
        if path == "wall":
            keys = ["board", "link", "fen", "ply", "outcome"]
            players = lambda board, color: ((board["pairing"] or {}).get(color) or {}).get("name")
            tiles = [{key: board[key] for key in keys} | {"event": "board", "last": board["last"] and board["last"]["uci"], "clocks": None,
                     "white": players(board, "white"), "black": players(board, "black")} for board in self.boards]
            return [{"event": "wall", "version": "0.1.0", "boards": names}, *tiles]
        daemon = {"event": "daemon", "at": AT, "version": "0.1.0", "boards": names, "clients": 0, "watchers": 0}
        return [daemon, *self.boards]


SCENES = {
    "chosen": Scene(FOUR[:3], lichess_chosen="citrine"),
    "nothing": Scene([]),
    "one board": Scene([state("citrine", ITALIAN, **LICHESS)]),
    "in check": Scene([state("citrine", "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 c4f7", **LICHESS)]),
    "game over": Scene([state("citrine", MATE, **OVER)]),
    **{name: Scene([state("citrine", ITALIAN, **advice)]) for name, advice in ADVICE.items()},
    "resigned": Scene([state("citrine", ITALIAN, **RESIGNED, **SHOWN)]),
    "mated": Scene([state("citrine", MATE, **OVER | MATING)]),
    "next game": Scene([state("citrine", ITALIAN, **RESIGNED, **NEXT)]),
    "two boards": Scene(FOUR[:2]),
    "four boards": Scene(FOUR),
    "begins": Scene([{**FOUR[0], "make": None, "advice": "new game: put the pieces on their starting squares, then press 'Board ready' or just move"}, *FOUR[1:]]),
    "found boards": Scene(FOUR, FOUND, keyed=["neo"], started=["neo"], linked=["citrine.dgt"]),
    "fixed": Scene(FOUR[:2], added=[], fixed=["citrine"], engines=(), programs="network", programs_fixed=True, programs_at="0.0.0.0:9671",
                   games_fixed=["player", "every_move"], lichess_fixed=["board", "take_backs"], whitepawn_fixed=["ble"]),
    "may not": Scene([state("citrine", ITALIAN, **LICHESS)], may_control=False, may_pair=False,
                     why_not='control is off: to allow it from this computer, set control = "local" under [web] in the configuration'),
    "challenged": Scene([state("citrine", MATE, **OVER)], account=CHALLENGED),
    "stranger": Scene([], stranger=True),
}
# The part of the page that a scene is looked at in, where it is not the boards.
VIEWS = [
    *[(name, "") for name in SCENES if name not in ["chosen", "found boards", "fixed"]],
    ("nothing", "desk"), ("found boards", "desk"), ("fixed", "desk"), ("may not", "desk"), ("challenged", "desk"), ("four boards", "wall"), ("nothing", "games"), ("one board", "games"),
    ("one board", "settings"), ("two boards", "settings"), ("may not", "settings"), ("fixed", "settings"),
]


class Server(ThreadingHTTPServer):
    """The page's files, and an API that tells a scene."""

    daemon_threads = True
    scene = SCENES["nothing"]
    # The streams of a scene end when it does.
    over = threading.Event()
    # What the page has sent, with its address.
    posted: list[tuple[str, Any]] = []

    def show(self, scene: Scene) -> None:
        self.over.set()
        self.over, self.scene = threading.Event(), scene


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: Any) -> None:
        """Nothing is logged."""

    def sends(self, kind: str, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:  # noqa: N802
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.posted.append((self.path.removeprefix("/api/v1/"), json.loads(body)))
        self.do_GET()

    def do_GET(self) -> None:  # noqa: N802
        path = self.path.split("?")[0]
        if not path.startswith("/api/v1/"):
            file = FILES / (path[1:] or "page.html")
            return self.sends(TYPES.get(file.suffix, "application/json"), file.read_bytes())
        path, scene = path.removeprefix("/api/v1/"), self.server.scene
        if scene.stranger:
            return self.sends("application/json", b'{"error": "no code is shown now, or its time is over: show one on BoardBridge\'s computer, '
                              b'by `boardbridge pair` or on its page"}', 403)
        if path in ["events", "wall"]:
            over = self.server.over
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            try:
                for line in scene.lines(path):
                    self.wfile.write(f"data: {json.dumps(line)}\n\n".encode())
                over.wait()
            except BrokenPipeError:
                # The browser is at another view.
                pass
            return None
        found = scene.answers(path)
        return self.sends("application/json", json.dumps({"error": "there is no such game"} if found is None else found).encode(), 404 if found is None else 200)


def shows(page: Page, server: Server, address: str, scene: str, part: str) -> None:
    """Opens a view, and waits until it is whole."""
    server.show(SCENES[scene])
    page.driver.get("about:blank")
    page.driver.get(f"{address}#{part}")
    if SCENES[scene].stranger:
        until("the question for the code", lambda: page.driver.find_elements("css selector", "#pair"))
        return
    names = [board["board"] for board in SCENES[scene].boards]
    if part in ["", "desk"]:
        until("the boards", lambda: len(page.driver.find_elements("css selector", "#all article h2")) == len(names))
        until("their states", lambda: page.driver.execute_script("return [...boards.values()].every((board) => board.state)"))
    if part == "desk" and SCENES[scene].settings["may_control"]:
        until("what is found", lambda: len(page.driver.find_elements("css selector", "#found > li")) == len(SCENES[scene].found))
        until("the kinds", lambda: len(page.driver.find_elements("css selector", "#how-kind option")) > 1)
        until("who plays", lambda: len(page.driver.find_elements("css selector", "#at-boards > li")) >= len(names))
    waits = [one for one in SCENES[scene].account["challenges"] if not one["own"]]
    if part in ["", "desk"] and waits:
        until("the challenges", lambda: page.text("#challenges").startswith(str(len(waits))))
    if part == "wall":
        until("the wall", lambda: len(page.driver.find_elements("css selector", ".tile[data-ply]")) == len(names))
    if part == "games":
        until("the games", lambda: page.driver.find_elements("css selector", "#list li"))
        page.one("#list button").click()
        until("the replay", lambda: page.one("#replay").is_displayed())
        page.one("#replay [data-to='last']").click()
    if part == "settings":
        until("the settings", lambda: page.driver.find_elements("css selector", "#values dt"))
        until("the phones", lambda: not SCENES[scene].settings["may_pair"] or page.driver.find_elements("css selector", "#phones li"))
        page.driver.execute_script("document.getElementById('about').open = true")
        if SCENES[scene].settings["may_pair"]:
            page.one("#pair-show").click()
            until("the code", lambda: page.text("#phones .code"))


# What is wrong with a view, in the browser: what is wider than the screen or its own place, too small for a finger, or untold.
FAULTS = """
const wrong = [];
if (document.documentElement.scrollWidth > innerWidth) wrong.push(`${document.documentElement.scrollWidth} px wide`);
for (const one of document.querySelectorAll("button, select, summary, nav a, input, a.lichess, #list a")) {
  if (one.closest(".tile") || one.type === "checkbox" || !one.checkVisibility()) continue;
  const { width, height } = one.getBoundingClientRect();
  if (width < 24 || height < 24) wrong.push(`too small: ${one.outerHTML.slice(0, 80)} ${width} ${height}`);
  if (one.scrollWidth > one.clientWidth + 1 && one.clientWidth && one.tagName !== "INPUT") wrong.push(`cut off: ${one.outerHTML.slice(0, 80)}`);
}
for (const one of document.querySelectorAll("#large .do, #large .sub")) {
  if (one.scrollHeight > one.clientHeight + 2 && !one.closest("article").querySelector(".why").textContent) wrong.push(`cut off: ${one.textContent}`);
}
const english = [...document.querySelectorAll("[lang='en']")].filter((one) => one.textContent && one.checkVisibility() && !one.contains(document.body));
if (LANGUAGE !== "en") for (const one of english) wrong.push(`in English: ${one.textContent}`);
return wrong;
"""


def looks(page: Page, what: str, pictures: Path | None, axe: bool) -> None:
    faults.extend((what, wrong) for wrong in page.driver.execute_script(FAULTS))
    # What axe looks at is the same in each language.
    if axe:
        page.accessible(what)
    if pictures:
        page.driver.save_screenshot(str(pictures / (what.replace(" ", "-").replace(",", "") + ".png")))


def draws(page: Page, server: Server, address: str, pictures: Path | None, size: str) -> None:
    """Each kind of board has a picture with words, and no two have the same."""
    shows(page, server, address, "nothing", "desk")
    seen = set()
    for kind, *_ in KINDS:
        page.driver.execute_script("const all = $('how-kind'); all.value = arguments[0]; all.dispatchEvent(new Event('change'))", kind)
        svg = page.one("#how-shown svg")
        seen.add(str(svg.get_attribute("innerHTML")))
        assert "undefined" not in str(svg.get_attribute("outerHTML")) and svg.get_attribute("aria-label"), kind
        assert len(page.text("#how-shown p")) > 20, kind
        if pictures:
            svg.screenshot(str(pictures / f"{size}-kind-{kind}.png"))
    assert len(seen) == len(KINDS), "two kinds have the same picture"


def sits_still(page: Page, server: Server, address: str, size: str) -> None:
    """The board is at the same place and of the same size whatever there is to say."""
    seats = {}
    for name in ["one board", "in check", "game over", *ADVICE]:
        shows(page, server, address, name, "")
        seats[name] = page.driver.execute_script(
            "const { top, width } = document.querySelector('#large .picture').getBoundingClientRect(); return [top, width]"
        )
    if len({tuple(seat) for seat in seats.values()}) > 1:
        faults.append((size, "the board moves", seats))


def offers(page: Page, server: Server, address: str) -> None:
    """*Play* offers what will be granted, and says why the rest is not offered."""
    texts = lambda: [one.text for one in page.driver.find_elements("css selector", "#at-boards > li")]
    choices = "return [...document.querySelectorAll('#at-boards li:last-child select')[0].options].map((one) => one.value)"
    shows(page, server, address, "fixed", "desk")
    citrine, dgt = texts()
    assert "Who plays here is set in the configuration." in citrine and "Play" not in citrine, citrine
    assert "Play" in dgt and "This board is set in the configuration" in dgt and "Rename" not in dgt, dgt
    assert page.driver.execute_script(choices) == ["people"], "no engine, and the other board has an opponent"
    assert "sudo apt install stockfish" in page.text("#no-engine")
    switch = page.one("#desk .programs")
    assert switch.is_selected() and not switch.is_enabled() and "set in the configuration" in page.text("#desk .switches")
    assert page.text("#program-line") == "boardbridge uci --connect 127.0.0.1:9671", "it listens elsewhere than usual"
    shows(page, server, address, "chosen", "desk")
    offered = "return [...document.querySelectorAll('#at-boards li')].map((item) => [...item.querySelector('select').options].map((one) => one.value).filter((one) => one.startsWith('board')))"
    assert page.driver.execute_script(offered) == [[], ["board neo"], ["board dgt"]], "the board of Lichess plays no other board"
    shows(page, server, address, "found boards", "desk")
    citrine, dgt, neo, ucb = texts()
    assert all("Stop" in one and "Against" not in one for one in [citrine, dgt, neo]), "a board of a link has Stop, too"
    assert "the board dgt" in citrine and "the board citrine" in dgt
    assert page.driver.execute_script(choices) == ["engine stockfish", "people"], "the other boards have an opponent"
    assert not page.one("#no-engine").is_displayed()
    assert "Level 1" in ucb and "White" in ucb, ucb


def turns_to_its_board(page: Page, server: Server, address: str) -> None:
    """After *Play* its board is large, and the keyboard is there."""
    shows(page, server, address, "two boards", "desk")
    page.driver.find_element("xpath", "//*[@id='at-boards']/li[h3='dgt']//button[@class='main']").click()
    until("its board is large", lambda: page.driver.find_elements("css selector", "#large > #board-dgt"))
    assert page.one("#board-dgt").is_displayed() and page.driver.switch_to.active_element == page.one("#board-dgt")
    assert page.driver.execute_script("return scrollY") == 0


def tells(page: Page, server: Server, address: str) -> None:
    """What is to be done: of a game that is over nothing but its mating move, before the next one its pieces are put up. And what is
    kept."""
    heads = {"resigned": "The game is over", "mated": "Queen h5 takes f7", "next game": "New game: put the pieces on their starting squares", "put up": "Put the pieces in place"}
    for scene, head in heads.items():
        shows(page, server, address, scene, "")
        assert page.text(".do") == head, (scene, page.text(".do"))
        assert bool(page.driver.find_elements("css selector", "#large [data-arrow]")) == (scene in ("mated", "next game")), scene
        assert bool(page.text(".list")) == (scene in ("next game", "put up")), scene
    shows(page, server, address, "one board", "games")
    ends = [one.text.split(", ")[-1] for one in page.driver.find_elements("css selector", "#list .about")]
    assert ends == ["4 moves", "1 move"], ends


def fits_in_german(page: Page, server: Server, address: str) -> None:
    """On a small phone the menu has one line, and the board and its moves are on the screen. The kinds have German names."""
    page.driver.execute_script("localStorage.setItem('language', 'de')")
    page.cdp("Emulation.setDeviceMetricsOverride", {"width": 360, "height": 640, "deviceScaleFactor": 1, "mobile": True})
    for scene in ["one board", "challenged"]:
        shows(page, server, address, scene, "")
        tops = "return [...document.querySelectorAll('nav a')].map((one) => one.getBoundingClientRect().top)"
        assert len(set(page.driver.execute_script(tops))) == 1, "the menu has several lines"
    shows(page, server, address, "one board", "")
    low = page.driver.execute_script("return document.querySelector('#large .moves').getBoundingClientRect().bottom - innerHeight")
    assert low <= 0, low
    shows(page, server, address, "nothing", "desk")
    assert page.text("#how-kind [value='swpp']") == "Selbst gebautes Brett, das SWPP spricht"
    page.driver.execute_script("localStorage.removeItem('language')")
    page.cdp("Emulation.setDeviceMetricsOverride", {"width": PHONE[0], "height": PHONE[1], "deviceScaleFactor": 1, "mobile": True})


def fits_in_a_window(page: Page, server: Server, address: str) -> None:
    """What is to be done is whole in a window of any width, however many boards there are."""
    for width in range(900, 1900, 100):
        page.cdp("Emulation.setDeviceMetricsOverride", {"width": width, "height": 850, "deviceScaleFactor": 1, "mobile": False})
        for scene in ["begins", "four boards", "two boards", "one board"]:
            shows(page, server, address, scene, "")
            faults.extend((width, scene, wrong) for wrong in page.driver.execute_script(FAULTS))
    page.cdp("Emulation.setDeviceMetricsOverride", {"width": DESK[0], "height": DESK[1], "deviceScaleFactor": 1, "mobile": False})


def unlocks(page: Page, server: Server, address: str) -> None:
    """A board that a key unlocks is added with one, or gets it later; nothing else is asked for one."""
    shows(page, server, address, "found boards", "desk")
    server.posted.clear()
    part = page.driver.find_element("xpath", "//*[@id='at-boards']/li[h3='neo']/details[last()]")
    assert "Developer key" in part.text and "Developer key" not in page.text("#at-boards > li")
    part.find_element("css selector", "summary").click()
    part.find_element("css selector", "input").send_keys("BA9876543210")
    part.find_element("css selector", "button").click()
    until("it is set", lambda: server.posted == [("boards/neo/key", {"key": "BA9876543210"})])
    shows(page, server, address, "found boards", "desk")
    items = page.driver.find_elements("css selector", "#found > li")
    asks = lambda item: "Developer key" in item.text
    assert [asks(item) for item in items] == [False, False, False, True, False], "the last may be another kind"
    choose = "const select = arguments[0].querySelector('select'); select.value = arguments[1]; select.dispatchEvent(new Event('change'))"
    page.driver.execute_script(choose, items[4], "dgt-pegasus")
    assert asks(items[4]) and "DGT issues it" in items[4].text
    items[3].find_elements("css selector", "input")[1].send_keys(" 0123456789AB ")
    items[3].find_element("css selector", "button.main").click()
    until("it is added", lambda: server.posted[1:] == [("found/d/add", {"key": "0123456789AB"})])


def chooses(page: Page, server: Server, address: str) -> None:
    """What is set for all is sent; what the configuration has is shown as set there."""
    field = lambda words: page.driver.find_element("xpath", f"//section[@id='settings']//label[starts-with(., '{words}')]/*[last()]")
    shows(page, server, address, "two boards", "settings")
    server.posted.clear()
    player = field("Player at the board")
    player.send_keys("Zoë")
    page.driver.execute_script("KEPT.forEach((show) => show())")
    assert player.get_attribute("value") == "Zoë", "what is being typed stays"
    player.send_keys(Keys.ENTER)
    field("Save each move").click()
    field("When the opponent wants to take back").send_keys("allow")
    assert field("By Bluetooth").get_attribute("value") == "dgt" and field("By TCP").get_attribute("value") == ""
    field("By TCP").send_keys("citrine")
    field("By Bluetooth").send_keys("off")
    wanted = [{"player": "Zoë"}, {"every_move": True}, {"lichess_take_backs": "yes"}, {"whitepawn_tcp": "citrine"}, {"whitepawn_ble": ""}]
    until("they are sent", lambda: server.posted == [("settings", one) for one in wanted])
    shows(page, server, address, "fixed", "settings")
    for words in ["Player at the board", "Save each move", "When the opponent wants", "Games are played on", "By Bluetooth", "Chess programs of the network"]:
        control = field(words)
        assert not control.is_enabled() and "(set in the configuration)" in control.find_element("xpath", "..").text, words
    for words in ["Place", "Challenges", "By TCP"]:
        assert field(words).is_enabled(), words


def fits(page: Page, server: Server, address: str) -> None:
    """A single board is on the screen with its players, clocks and what to press now, without scrolling."""
    for name in ["one board", "make", "mistake", "game over", "waits"]:
        shows(page, server, address, name, "")
        lowest = "return Math.max(...[...document.querySelectorAll('#large :is(.state, .table, .end, .buttons button)')].map((one) => one.getBoundingClientRect().bottom))"
        low = page.driver.execute_script(lowest + " - innerHeight")
        if low > 0:
            faults.append((name, "is below the screen", low))


def reaches(page: Page, server: Server, address: str) -> None:
    """Tab reaches everything that can be pressed or chosen, in each view; only what scrolls or is a tile goes on by arrows."""
    for scene, part in VIEWS:
        shows(page, server, address, scene, part)
        page.driver.execute_script(
            """document.activeElement.blur(); scrollTo(0, 0);
            window.wanted = new Set([...document.querySelectorAll("a[href], button, select, input, summary")].filter((one) => one.checkVisibility() && !one.disabled && one.tabIndex >= 0));
            addEventListener("focusin", (event) => wanted.delete(event.target));"""
        )
        count = page.driver.execute_script("return wanted.size")
        for _ in range(count + 12):
            page.driver.switch_to.active_element.send_keys(Keys.TAB)
        left = page.driver.execute_script("return [...wanted].map((one) => one.outerHTML.slice(0, 100))")
        faults.extend((scene, part, "no Tab reaches", one) for one in left)


def rests(page: Page, server: Server, address: str) -> None:
    """Somebody who wants no motion sees none."""
    shows(page, server, address, "one board", "")
    move = "const { state } = boards.get('citrine'); boards.get('citrine').take({ ...state, fen: arguments[0] }); return document.getAnimations().length"
    for still in [True, False]:
        value = "reduce" if still else "no-preference"
        page.cdp("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": value}]})
        board = chess.Board(SCENES["one board"].boards[0]["fen"])
        board.push_uci("b1c3")
        moved = page.driver.execute_script(move, board.fen())
        assert (moved == 0) == still, (still, moved)
        page.driver.execute_script(move, SCENES["one board"].boards[0]["fen"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=Path, help="write a picture of every view there")
    pictures = parser.parse_args().pictures
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/"
    for size, name in [(PHONE, "phone"), (DESK, "desk")]:
        page = Page(address, size, script="")
        offers(page, server, address)
        turns_to_its_board(page, server, address)
        tells(page, server, address)
        if size == PHONE:
            fits_in_german(page, server, address)
        else:
            fits_in_a_window(page, server, address)
        unlocks(page, server, address)
        chooses(page, server, address)
        sits_still(page, server, address, name)
        draws(page, server, address, pictures, name)
        fits(page, server, address)
        rests(page, server, address)
        reaches(page, server, address)
        for language, scheme in [("en", "light"), ("en", "dark"), ("de", "light")]:
            page.driver.execute_script("localStorage.setItem('language', arguments[0])", language)
            page.cdp("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            for scene, part in VIEWS:
                shows(page, server, address, scene, part)
                looks(page, f"{name} {scheme} {language}, {part or 'boards'}, {scene}", pictures, axe=language == "en")
        page.cdp("Emulation.setEmulatedMedia", {"features": []})
        for scene, part in VIEWS:
            shows(page, server, address, scene, part)
            page.driver.execute_script("document.documentElement.style.fontSize = '200%'; dispatchEvent(new Event('resize'))")
            faults.extend((name, "text of twice the size", scene, part, wrong) for wrong in page.driver.execute_script(FAULTS) if "wide" in wrong)
            if pictures:
                page.driver.save_screenshot(str(pictures / f"{name}-200-{part or 'boards'}-{scene.replace(' ', '-')}.png"))
        page.driver.quit()
    server.show(SCENES["nothing"])
    server.shutdown()
    assert not faults, "\n".join(str(fault) for fault in faults)
    print("every view is as it should be")


if __name__ == "__main__":
    main()
