// The page: shows what the events tell, and says by buttons what the player wants.
// A snapshot decides, an event only tells: after an event the board is asked for its state again.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
/** A stream that has said nothing for this long is dead: it shows every 15 s that it is alive. */
const DEAD_MS = 40000;
/** The waits before the page connects again. */
const FIRST_WAIT_MS = 500;
const LAST_WAIT_MS = 5000;
/** Events that come together are answered by one question for the board's state. */
const GATHER_MS = 60;
/** How long a button waits for the second press. */
const SURE_MS = 4000;
/** How long after the press of "Board ready" an event is what that confirmed. */
const CONFIRM_MS = 1000;
const LAST_EVENT_TEXTS = ["mistake", "mended", "ended", "took-back", "new-game", "disconnected", "answers", "pairing"];
const NAMES = { p: "pawn", n: "knight", b: "bishop", r: "rook", q: "queen", k: "king" };

const $ = (id) => document.getElementById(id);
const boards = new Map();
let settings = { may_control: false, why_not: "" };
let version = null;
/** The daemon's clock minus this one's, in milliseconds. */
let skew = 0;

// ---- small helpers

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function drawn(name, attributes, parent) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (parent) parent.append(made);
  return made;
}

/** Sets a text only if it is another one: a screen reader says what changes. */
function write(into, text) {
  if (into.textContent !== text) into.textContent = text;
}

function capital(text) {
  return text ? text[0].toUpperCase() + text.slice(1) : text;
}

async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  const response = await fetch("/api/v1/" + path, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

// ---- what is said aloud

const speaks = () => localStorage.getItem("speech") === "on";

function say(text) {
  $("said").textContent = text;
  if (speaks() && window.speechSynthesis) {
    const words = new SpeechSynthesisUtterance(text);
    words.lang = "en";
    window.speechSynthesis.speak(words);
  }
}

/** A move in words: "knight takes f3, check". */
function spoken(san) {
  if (san.startsWith("O-O-O")) return "castles long" + spokenEnd(san);
  if (san.startsWith("O-O")) return "castles short" + spokenEnd(san);
  const piece = NAMES[san[0].toLowerCase()];
  const isPiece = san[0] >= "A" && san[0] <= "Z";
  const rest = (isPiece ? san.slice(1) : san).replace(/[+#]/g, "").replace("x", " takes ").trimStart();
  const promoted = rest.replace(/=([QRBN])/, (_, role) => ", " + NAMES[role.toLowerCase()]);
  return (isPiece ? piece + " " : "") + promoted + spokenEnd(san);
}

function spokenEnd(san) {
  return san.endsWith("#") ? ", checkmate" : san.endsWith("+") ? ", check" : "";
}

// ---- the position

/** The pieces of a FEN: square to letter. */
function pieces(fen) {
  const found = new Map();
  fen.split(" ")[0].split("/").forEach((row, index) => {
    let file = 0;
    for (const sign of row) {
      if (sign >= "1" && sign <= "8") file += Number(sign);
      else found.set("abcdefgh"[file++] + (8 - index), sign);
    }
  });
  return found;
}

function inWords(found) {
  const side = (test) => [...found].filter(([, sign]) => test(sign)).map(([square, sign]) =>
    NAMES[sign.toLowerCase()] + " " + square).join(", ");
  return "White: " + side((sign) => sign < "a") + ". Black: " + side((sign) => sign > "Z") + ".";
}

/** A drawing of a position, which is kept and changed. */
class Picture {
  constructor(into) {
    this.svg = drawn("svg", { class: "chess", viewBox: "0 0 800 800", role: "img" });
    into.append(this.svg);
    this.turned = false;
    this.shown = null;
  }

  at(square) {
    const file = square.charCodeAt(0) - 97, rank = Number(square[1]) - 1;
    return this.turned ? [(7 - file) * 100, rank * 100] : [file * 100, (7 - rank) * 100];
  }

  /** marks: last (squares), wrong, awaited (squares), arrows ([from, to, class]). */
  show(fen, marks, turned, label) {
    const key = JSON.stringify([fen, marks, turned, label]);
    if (key === this.shown) return;
    this.shown = key;
    this.turned = turned;
    const found = pieces(fen);
    const svg = this.svg;
    svg.replaceChildren();
    svg.setAttribute("aria-label", label + " " + inWords(found));
    for (let rank = 1; rank <= 8; rank++) {
      for (const file of "abcdefgh") {
        const square = file + rank;
        const [x, y] = this.at(square);
        const isDark = (file.charCodeAt(0) + rank) % 2 === 0;
        drawn("rect", { x, y, width: 100, height: 100, class: isDark ? "d" : "l" }, svg);
        if (marks.last.includes(square)) drawn("rect", { x, y, width: 100, height: 100, class: "last" }, svg);
        if (x === 0) drawn("text", { x: 4, y: y + 19 }, svg).textContent = rank;
        if (y === 700) drawn("text", { x: x + 85, y: 794 }, svg).textContent = file;
      }
    }
    for (const [square, sign] of found) {
      const [x, y] = this.at(square);
      drawn("use", {
        href: "#" + sign.toLowerCase(), x: x + 5, y: y + 5, width: 90, height: 90, class: sign < "a" ? "w" : "b",
      }, svg);
    }
    for (const kind of ["wrong", "awaited"]) {
      for (const square of marks[kind]) {
        const [x, y] = this.at(square);
        drawn("rect", { x: x + 5, y: y + 5, width: 90, height: 90, rx: 8, class: kind, "data-square": square }, svg);
      }
    }
    for (const [from, to, kind] of marks.arrows) this.arrow(from, to, kind);
  }

  arrow(from, to, kind) {
    const [x1, y1] = this.at(from).map((v) => v + 50);
    const [x2, y2] = this.at(to).map((v) => v + 50);
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const [ex, ey] = [x2 - dx * 38, y2 - dy * 38];
    drawn("path", { d: `M${x1} ${y1}L${ex} ${ey}`, class: "arrow " + kind, "data-arrow": from + to }, this.svg);
    const points = [[x2, y2], [ex - dy * 24, ey + dx * 24], [ex + dy * 24, ey - dx * 24]];
    drawn("polygon", { points: points.map((p) => p.join(",")).join(" "), class: "head " + kind }, this.svg);
  }
}

// ---- moves as a list

/** Fills a list with moves; a new move is added, the rest stays. */
function list(into, state, now) {
  const key = JSON.stringify([state.san, state.took, state.clocks, now]);
  if (into.dataset.key === key) return;
  into.dataset.key = key;
  const black = state.start === "black" ? 1 : 0;
  const first = state.first - 1;
  into.replaceChildren(...state.san.map((san, index) => {
    const ply = index + black;
    const number = first + Math.floor(ply / 2) + 1;
    const item = element("li", index === now ? "now" : "");
    const before = ply % 2 === 0 ? number + ". " : index === 0 ? number + "… " : "";
    item.append(before + san);
    const took = state.took[index];
    const left = state.clocks[index];
    const about = [took === null || took === undefined ? "" : seconds(took), left ? clock(left) : ""].filter(Boolean);
    if (about.length) item.append(element("small", "", " " + about.join(", ")));
    return item;
  }));
  const shown = into.children[now] || into.lastElementChild;
  if (shown) into.scrollTop = shown.offsetTop - into.offsetTop - into.clientHeight + 2 * shown.offsetHeight;
}

function seconds(took) {
  return took < 10 ? took.toFixed(1) + " s" : took < 60 ? Math.round(took) + " s" : clock(took);
}

function clock(left) {
  const whole = Math.max(0, Math.floor(left));
  const two = (n) => String(n).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  return (hours ? hours + ":" + two(Math.floor(whole / 60) % 60) : Math.floor(whole / 60)) + ":" + two(whole % 60);
}

// ---- one board

const LINKS = {
  up: "connected", asking: "connecting…", unheard: "not heard yet", silent: "does not answer",
  stranger: "another kind of board", down: "not connected",
};
const PROMOTIONS = { q: "queen", r: "rook", b: "bishop", n: "knight" };

class Board {
  constructor(name) {
    this.name = name;
    this.state = null;
    this.turned = null;
    this.asked = null;
    this.readyAt = 0;
    this.confirmed = null;
    const article = $("board").content.firstElementChild.cloneNode(true);
    this.article = article;
    article.id = "board-" + name;
    article.setAttribute("aria-label", name);
    this.part = (selector) => article.querySelector(selector);
    this.part("h2").textContent = name;
    this.part(".moves").setAttribute("aria-label", "Moves on " + name);
    this.picture = new Picture(this.part(".picture"));
    this.buttons = new Map();
    this.part(".turn").addEventListener("click", () => {
      this.turned = !this.isTurned();
      this.show();
    });
  }

  isTurned() {
    return this.turned ?? this.state?.pairing?.hand === "black";
  }

  /** Asks for the state, once for events that come together. */
  changed() {
    this.asked ??= setTimeout(async () => {
      this.asked = null;
      try {
        this.take(await ask("boards/" + encodeURIComponent(this.name)));
      } catch {
        // The stream says when the daemon or the board is gone.
      }
    }, GATHER_MS);
  }

  take(state) {
    this.state = state;
    skew = Date.parse(state.at) - Date.now();
    this.show();
    stayAwake();
  }

  /** What the player has to do, in a few words. */
  task() {
    const { state } = this;
    if (state.link !== "up" && state.link !== "unheard") return capital(LINKS[state.link]);
    if (state.advice) return capital(state.advice);
    if (state.ending) return "The game is over";
    if (state.holders.length) return state.awaiting ? capital(state.turn) + " to move" : "Wait for the opponent's move";
    return "Free: start a game in your chess program";
  }

  show() {
    const { state, part } = this;
    if (!state) return;
    const paired = state.pairing;
    const link = part(".link");
    const battery = state.battery === null ? "" : ", battery " + state.battery + " %";
    write(link, LINKS[state.link] + battery + (state.id ? " (" + state.id + ")" : ""));
    link.classList.toggle("bad", state.link !== "up" && state.link !== "unheard");
    link.title = state.transport;
    write(part(".do"), this.task());
    write(part(".why"), state.why && state.why !== state.advice ? state.why : "");
    this.showPicture();
    const start = state.game.startsWith("fen ") ? state.game.split(" ") : null;
    list(part(".moves"), {
      san: state.san, took: state.took, clocks: paired?.clock_times || [],
      start: start && start[2] === "b" ? "black" : "white", first: start ? Number(start[6]) || 1 : 1,
    }, state.san.length - 1);
    this.showPlayers();
    const todo = state.guidance.map((action) => action.text);
    part(".list").replaceChildren(...todo.map((text) => element("li", "", text)));
    const result = state.outcome === "*" ? "" : ", " + state.outcome;
    write(part(".result"), state.ending ? "Over: " + state.ending.replaceAll("-", " ") + result : "");
    const offers = { draw: "The opponent offers a draw", "take-back": "The opponent asks to take back" };
    write(part(".notice"), [capital(paired?.notice), offers[paired?.offer]].filter(Boolean).join(". "));
    const waits = state.waiting.length ? "; waiting: " + state.waiting.join(", ") : "";
    write(part(".with"), state.holders.length ? "With " + state.holders.join(" and ") + waits : "");
    part(".chat").replaceChildren(...(paired?.chat || []).map((text) => element("li", "", text)));
    this.showButtons();
  }

  showPicture() {
    const { state } = this;
    const marks = { last: [], wrong: [], awaited: [], arrows: [] };
    const ends = (uci) => [uci.slice(0, 2), uci.slice(2, 4)];
    if (state.last) marks.last = ends(state.last.uci);
    for (const { from, to } of state.guidance) {
      if (from) marks.wrong.push(from);
      if (to) marks.awaited.push(to);
      if (from && to) marks.arrows.push([from, to, "mend"]);
    }
    if (state.make && !state.guidance.length) {
      const [from, to] = ends(state.make);
      marks.awaited.push(to);
      marks.arrows.push([from, to, "make"]);
    }
    const last = state.last ? " after " + state.last.number + (state.last.color === "white" ? ". " : "… ") + state.last.san : "";
    const label = `Position on ${this.name}${last}, ${capital(state.turn)} to move.`;
    this.picture.show(state.fen, marks, this.isTurned(), label);
  }

  showPlayers() {
    const paired = this.state.pairing;
    const mine = this.isTurned() ? "black" : "white";
    for (const [place, color] of [[".mine", mine], [".other", mine === "white" ? "black" : "white"]]) {
      const player = paired?.[color];
      const title = player?.title ? player.title + " " : "";
      const rating = player?.rating ? " (" + player.rating + ")" : "";
      write(this.part(place + " .name"), player ? title + player.name + rating : paired ? capital(color) : "");
    }
    this.tick();
  }

  /** The clocks, as they are now. */
  tick() {
    const clocks = this.state?.pairing?.clocks;
    const mine = this.isTurned() ? "black" : "white";
    for (const [place, color] of [[".mine", mine], [".other", mine === "white" ? "black" : "white"]]) {
      const into = this.part(place + " .clock");
      const runs = clocks?.runs === color;
      const gone = runs ? (Date.now() + skew - Date.parse(clocks.at)) / 1000 : 0;
      write(into, clocks ? clock(clocks[color] - Math.max(0, gone)) : "");
      into.classList.toggle("runs", runs);
    }
    return Boolean(clocks?.runs);
  }

  /** The buttons that can be used now: name, words, whether to ask again, body. */
  usable() {
    const { state } = this;
    const paired = state.pairing;
    const can = new Set(paired?.can || []);
    const found = [];
    const held = state.holders.length > 0;
    if (held || can.has("ready")) found.push(["ready", "Board ready"]);
    if (can.has("new-game")) found.push(["new-game", "New game", !state.ending && state.ply > 1]);
    if (can.has("draw")) found.push(["draw", paired.offer === "draw" ? "Accept the draw" : "Offer a draw"]);
    if (can.has("take-back")) {
      found.push(["take-back", paired.offer === "take-back" ? "Let them take back" : "Take back"]);
    }
    if (can.has("decline")) found.push(["decline", "Decline"]);
    if (can.has("resign")) found.push(["resign", "Resign", true]);
    if (can.has("abort")) found.push(["abort", "Abort the game", true]);
    if (can.has("berserk")) found.push(["berserk", "Berserk: half the time", true]);
    if (held && state.awaiting && this.mayPromote()) {
      for (const [piece, words] of Object.entries(PROMOTIONS)) {
        found.push(["promotion", "Promote to a " + words, false, { piece }]);
      }
    }
    if (held) {
      const to = state.waiting[0];
      found.push(["release", to ? "Give the board to " + to : "Release the board", true]);
    }
    return found;
  }

  /** Whether a pawn of the side to move is one step from the last rank. */
  mayPromote() {
    const [rank, pawn] = this.state.turn === "white" ? ["7", "P"] : ["2", "p"];
    return [...pieces(this.state.fen)].some(([square, sign]) => sign === pawn && square[1] === rank);
  }

  showButtons() {
    const usable = this.usable();
    const bar = this.part(".buttons");
    const keys = usable.map(([name, , , body]) => name + (body?.piece || ""));
    for (const [key, button] of this.buttons) {
      if (keys.includes(key)) continue;
      button.remove();
      this.buttons.delete(key);
    }
    usable.forEach(([name, words, twice, body], index) => {
      let button = this.buttons.get(keys[index]);
      if (!button) {
        button = element("button");
        button.type = "button";
        button.dataset.button = keys[index];
        button.addEventListener("click", () => this.press(button));
        this.buttons.set(keys[index], button);
      }
      Object.assign(button, { asks: name, words, twice, body: body || {} });
      if (!button.classList.contains("sure")) write(button, words);
      button.disabled = !settings.may_control;
      if (bar.children[index] !== button) bar.insertBefore(button, bar.children[index] || null);
    });
    write(this.part(".reason"), usable.length && !settings.may_control ? capital(settings.why_not || "") : "");
  }

  async press(button) {
    if (button.twice && !button.classList.contains("sure")) {
      button.classList.add("sure");
      button.textContent = button.words + ": press again";
      setTimeout(() => this.calm(button), SURE_MS);
      return;
    }
    this.calm(button);
    const said = this.part(".answer");
    this.readyAt = button.asks === "ready" ? Date.now() : 0;
    this.confirmed = null;
    try {
      await ask(`boards/${encodeURIComponent(this.name)}/${button.asks}`, button.body);
      // What it confirmed may be told before this answer, or after it.
      said.textContent = "Done: " + (this.confirmed || button.words.toLowerCase());
    } catch (error) {
      said.textContent = capital(error.message);
    }
    this.changed();
  }

  /** Says what "Board ready" has confirmed. */
  confirms(what) {
    if (Date.now() - this.readyAt > CONFIRM_MS) return;
    this.confirmed = what;
    write(this.part(".answer"), "Done: " + what);
  }

  calm(button) {
    button.classList.remove("sure");
    button.textContent = button.words;
  }
}

// ---- the stream

let stream = null;
let wait = FIRST_WAIT_MS;
let again = null;
let deadline = null;

function alive() {
  clearTimeout(deadline);
  deadline = setTimeout(lost, DEAD_MS);
}

function connect() {
  clearTimeout(again);
  stream?.close();
  stream = new EventSource("/api/v1/events");
  stream.addEventListener("open", async () => {
    wait = FIRST_WAIT_MS;
    write($("line"), "connected");
    $("line").classList.remove("lost");
    alive();
    try {
      await showSettings();
      for (const board of boards.values()) board.show();
    } catch {
      // The stream breaks too then.
    }
  });
  stream.addEventListener("message", (message) => {
    alive();
    told(JSON.parse(message.data));
  });
  stream.addEventListener("alive", alive);
  stream.addEventListener("error", lost);
  alive();
}

function lost() {
  stillPaired();
  disconnect();
  write($("line"), "connection lost, trying again…");
  $("line").classList.add("lost");
  again = setTimeout(connect, wait);
  wait = Math.min(2 * wait, LAST_WAIT_MS);
}

function disconnect() {
  clearTimeout(deadline);
  clearTimeout(again);
  stream?.close();
  stream = null;
}

function told(line) {
  switch (line.event) {
    case "daemon":
      // Another version has another page.
      if (version !== null && version !== line.version) location.reload();
      version = line.version;
      $("left-out").replaceChildren();
      arrange(line.boards.filter((name) => !name.includes("@")));
      return;
    case "snapshot":
      boards.get(line.board)?.take(line);
      return;
    case "client-snapshot":
      if (line.kind === "left-out") leftOut(line.why);
      return;
    case "lagged":
    case "client":
      return;
  }
  const board = boards.get(line.board);
  if (!board) return;
  const where = boards.size > 1 ? line.board + ": " : "";
  if (line.event === "moved" && line.san) say(where + spoken(line.san));
  else if (LAST_EVENT_TEXTS.includes(line.event) && line.text) say(where + line.text);
  if (line.event === "executed" || line.event === "mended") board.confirms(line.text);
  if (line.event === "pairing" && board.state) {
    board.state.pairing = line.pairing;
    board.show();
  } else {
    board.changed();
  }
}

function leftOut(why) {
  const item = document.createElement("li");
  item.textContent = why;
  $("left-out").append(item);
}

function arrange(names) {
  for (const [name, board] of boards) {
    if (names.includes(name)) continue;
    board.article.remove();
    boards.delete(name);
  }
  names.forEach((name) => {
    if (!boards.has(name)) boards.set(name, new Board(name));
    $("all").append(boards.get(name).article);
  });
  $("none").hidden = names.length > 0;
}

setInterval(() => {
  if (!document.hidden) for (const board of boards.values()) board.tick();
}, 1000);

/** The stream of the part that is shown, and no other. */
function listen() {
  if (isStranger) return;
  const onWall = !$("wall").hidden;
  const rests = document.hidden && !speaks();
  if (onWall || rests) disconnect();
  else if (!stream) connect();
  if (!onWall || document.hidden) disconnectWall();
  else if (!wall.stream) connectWall();
}

// A page that is not seen costs the daemon nothing, unless it speaks.
document.addEventListener("visibilitychange", () => {
  listen();
  stayAwake();
});

// ---- the screen stays on while a game is on

let lock = null;
let locking = false;

async function stayAwake() {
  if (!navigator.wakeLock || locking) return;
  const plays = [...boards.values()].some(({ state }) => state && state.holders.length && !state.ending);
  if (!plays || document.hidden) {
    lock?.release();
    lock = null;
  } else if (!lock || lock.released) {
    locking = true;
    try {
      lock = await navigator.wakeLock.request("screen");
    } catch {
      // The browser does not allow it: on a low battery, for instance.
      lock = null;
    }
    locking = false;
  }
}

// ---- the games

const replay = { game: null, ply: 0, picture: null };

async function showGames(before) {
  const games = await ask("games" + (before ? "?before=" + before : ""));
  if (!before) $("list").replaceChildren();
  $("no-games").hidden = games.length > 0 || Boolean(before);
  for (const game of games) {
    const item = element("li");
    const moves = Math.ceil(game.plies / 2);
    item.append(
      element("span", "players", `${game.white} – ${game.black}`),
      element("span", "", game.result),
      element("span", "about", `${game.board}, ${new Date(game.begun).toLocaleString()}, ${moves} moves`),
    );
    const open = element("button", "", "Replay");
    open.type = "button";
    open.setAttribute("aria-label", `Replay ${game.white} – ${game.black}, ${game.begun}`);
    open.addEventListener("click", () => openGame(game.file));
    const load = element("a", "", "PGN");
    load.href = "/api/v1/games/" + game.file;
    load.download = game.file;
    load.setAttribute("aria-label", "Download " + game.file);
    item.append(open, load);
    $("list").append(item);
  }
  const last = games.at(-1);
  $("older").hidden = games.length < 100;
  $("older").onclick = () => showGames(last.file);
}

async function openGame(file) {
  replay.game = await ask("games/" + file + "/moves");
  replay.picture ??= new Picture($("replay-board"));
  $("replay").hidden = false;
  const { white, black, result } = replay.game;
  $("replay-title").textContent = `${white} – ${black} ${result}`;
  goTo(0);
  $("replay").scrollIntoView();
  $("replay-moves").focus();
}

function goTo(ply) {
  const { game } = replay;
  replay.ply = Math.max(0, Math.min(game.moves.length, ply));
  const made = game.moves[replay.ply - 1];
  const fen = made ? made.fen : game.start;
  const marks = { last: made ? [made.uci.slice(0, 2), made.uci.slice(2, 4)] : [], wrong: [], awaited: [], arrows: [] };
  const label = made ? "Position after " + spoken(made.san) + "." : "Position at the start.";
  replay.picture.show(fen, marks, false, label);
  const start = game.start.split(" ");
  list($("replay-moves"), {
    san: game.moves.map((move) => move.san), took: game.moves.map((move) => move.took), clocks: [],
    start: start[1] === "b" ? "black" : "white", first: Number(start[5]) || 1,
  }, replay.ply - 1);
  if (made) say(spoken(made.san));
}

function step(to) {
  if (to === "close") {
    $("replay").hidden = true;
    replay.game = null;
    return;
  }
  goTo({ first: 0, back: replay.ply - 1, on: replay.ply + 1, last: Infinity }[to]);
}

$("replay").addEventListener("click", (event) => {
  const to = event.target.dataset.to;
  if (to && replay.game) step(to);
});

document.addEventListener("keydown", (event) => {
  if (!replay.game || $("games").hidden || event.altKey || event.ctrlKey || event.metaKey) return;
  const to = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" }[event.key];
  if (!to) return;
  event.preventDefault();
  step(to);
});

// ---- settings, and which part is shown

async function showSettings() {
  settings = await ask("settings");
  const control = { local: "this machine only", paired: "this machine and paired phones", allowed: "all that may connect", nobody: "no one" };
  const values = [
    ["Version", settings.version],
    ["Who may press buttons", control[settings.control]],
    ["Games are kept in", settings.games || "not kept"],
    ["Site", settings.site || "not set"],
    ["Player", settings.player || "not set"],
    ...[...boards.values()].filter(({ state }) => state).map(({ name, state }) => ["Board " + name, state.transport]),
  ];
  $("values").replaceChildren(...values.flatMap(([name, value]) => [element("dt", "", name), element("dd", "", value)]));
}

$("speech").addEventListener("click", () => {
  localStorage.setItem("speech", speaks() ? "off" : "on");
  $("speech").setAttribute("aria-pressed", String(speaks()));
});

function turnTo() {
  const wanted = ["wall", "games", "settings"].find((part) => location.hash === "#" + part) || "boards";
  for (const part of ["boards", "wall", "games", "settings"]) $(part).hidden = part !== wanted;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === "#" + wanted) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  listen();
  if (wanted === "games") showGames().catch((error) => write($("line"), error.message));
  if (wanted === "settings") showSettings().catch((error) => write($("line"), error.message));
}

window.addEventListener("hashchange", turnTo);

/** Once all scripts are there. */
function begin() {
  $("speech").setAttribute("aria-pressed", String(speaks()));
  turnTo();
}
