// The page: shows what the events tell, and says by buttons what the player wants. Each noun has a file: its words, pictures, sounds,
// lists of moves, boards, games, and the wall. Here is what they share, the stream of events, and which part is shown.
// A snapshot decides, an event only tells: the stream has the board's state after each event.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
/** A stream that has said nothing for this long is dead: it shows every 15 s that it is alive. */
const DEAD_MS = 40000;
/** The waits before the page connects again. */
const FIRST_WAIT_MS = 500;
const LAST_WAIT_MS = 5000;
/** Events that are announced in the daemon's words. */
const TOLD = ["mistake", "mended", "disconnected", "answers"];

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

/** The same with words that may be the daemon's own, in English. */
function quote(into, text, quoted) {
  write(into, text);
  into.lang = quoted && text ? "en" : LANGUAGE;
  return into;
}

function capital(text) {
  return text ? text[0].toUpperCase() + text.slice(1) : text;
}

async function ask(path, body, method = "POST") {
  const options = body === undefined ? {} : body === null ? { method } : {
    method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  const response = await fetch("/api/v1/" + path, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
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
  stream = new EventSource("/api/v1/events?states");
  stream.addEventListener("open", async () => {
    wait = FIRST_WAIT_MS;
    write($("line"), t("connected"));
    $("line").classList.remove("lost");
    alive();
    try {
      await showSettings();
      showLichess();
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
  write($("line"), t("lost"));
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
    case "client":
      if (line.client === "Lichess") lichessChanged();
      return;
    case "lagged":
      return;
  }
  const board = boards.get(line.board);
  if (!board) return;
  announce(line, boards.size > 1 ? line.board + ": " : "");
  if (board.isLarge()) {
    if (line.event === "moved" && line.san) sound(soundOf(line.san));
    else if (line.event in SOUNDS) sound(line.event);
  }
  if (line.event === "executed" || line.event === "mended") board.confirms(line.text);
  if (line.event === "pairing" && board.state) {
    // The opponent of a game that is over leaves; who played stays on the card.
    const over = board.state.ending && board.state.pairing;
    board.state.pairing = line.pairing ?? (over ? { ...over, can: [], offer: null } : null);
    board.show();
  }
}

function announce(line, where) {
  if (line.event === "moved" && line.san) say(where + spoken(line.san));
  else if (line.event === "took-back" && line.san) say(where + t("said-took-back", { move: spoken(line.san) }));
  else if (line.event === "new-game") say(where + t("said-new-game"));
  else if (line.event === "ended") {
    const { outcome, end: ending } = line;
    const ended = { outcome, ending, pairing: boards.get(line.board)?.state?.pairing };
    say(where + [result(ended), cause(ended)].filter(Boolean).join(", "));
  } else if (line.event === "pairing") {
    const offer = line.pairing?.offer ? t("opponent." + line.pairing.offer) : "";
    const notice = worded(line.pairing?.notice);
    const words = [notice.words, offer].filter(Boolean).join(". ");
    if (words) say(where + words, notice.quoted ? "en" : LANGUAGE);
  } else if (TOLD.includes(line.event) && line.text) {
    const { words, quoted } = worded(line.text, boards.get(line.board)?.state);
    say(where + words, quoted ? "en" : LANGUAGE);
  }
}

function leftOut(why) {
  const item = document.createElement("li");
  item.textContent = why;
  $("left-out").append(item);
}

function arrange(names) {
  const gone = [...boards.values()].filter(({ name }) => !names.includes(name));
  const come = names.filter((name) => !boards.has(name));
  const large = gone.find((board) => board.isLarge());
  for (const { name, article } of gone) {
    article.remove();
    boards.delete(name);
  }
  for (const name of come) boards.set(name, new Board(name));
  // One goes while one comes: it has another name now.
  if (large && gone.length === 1 && come.length === 1) {
    const { article } = boards.get(come[0]);
    $("large").replaceChildren(article);
    if (location.hash === "#" + large.article.id) history.replaceState(null, "", "#" + article.id);
  }
  $("none").hidden = names.length > 0;
  enlargeChosen();
  showKept();
  // A list with the names from before may have been made meanwhile.
  showDesk();
}

/** The board in the address is large, or the one that was, or the first one; the others are small beside it. */
function enlargeChosen() {
  const all = [...boards.values()].sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
  const chosen = all.find(({ article }) => location.hash === "#" + article.id) || all.find((board) => board.isLarge()) || all[0];
  const small = all.filter((board) => board !== chosen).map(({ article }) => article);
  if (chosen && !chosen.isLarge()) $("large").replaceChildren(chosen.article);
  small.forEach((article, index) => {
    if ($("small").children[index] !== article) $("small").insertBefore(article, $("small").children[index] || null);
  });
  for (const { article } of all) article.classList.toggle("aside", article !== chosen?.article);
  $("all").classList.toggle("several", small.length > 0);
  $("small").hidden = !small.length;
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

// ---- settings, and which part is shown

async function showSettings() {
  settings = await ask("settings");
  for (const one of document.querySelectorAll(".programs")) {
    one.checked = settings.programs === "network";
    one.disabled = !settings.may_control || settings.programs_fixed;
    write(one.previousElementSibling, settings.programs_fixed ? t("fixed", { words: t("programs") }) : t("programs"));
  }
  const at = settings.programs_at;
  $("program-bar").hidden = !at;
  write($("program-how"), t(at ? "program-how" : "programs-off"));
  if (at) write($("program-line"), programLine(at));
  showKept();
  const values = [
    [t("version"), settings.version],
    [t("control"), t("control." + settings.control)],
    [t("kept"), settings.games || t("not-kept")],
    ...[...boards.values()].filter(({ state }) => state).map(({ name, state }) => [t("board", { board: name }), [state.id, state.transport].filter(Boolean).join(", ")]),
  ];
  $("values").replaceChildren(...values.flatMap(([name, value]) => [element("dt", "", name), element("dd", "", value)]));
}

/** What a chess program is given as its engine. The usual port is found without an address. */
function programLine(at) {
  const [, host, port] = at.match(/^(.*):(\d+)$/);
  const from = settings.programs === "network" ? location.hostname : host;
  return "boardbridge uci" + (port === "9670" ? "" : ` --connect ${from}:${port}`);
}

/** What this browser remembers. */
function beginSwitches() {
  for (const name of ["speech", "sounds", "evaluation"]) {
    $(name).checked = isOn(name);
    $(name).addEventListener("change", () => {
      localStorage.setItem(name, $(name).checked ? "on" : "off");
      if (name === "sounds") sound("move");
      if (name === "evaluation") for (const board of boards.values()) if (board.state) board.showPlayers();
    });
  }
  for (const one of document.querySelectorAll(".programs")) {
    one.addEventListener("change", async () => {
      try {
        await ask("settings", { programs: one.checked ? "network" : "here" });
      } catch (error) {
        tell($("line"), error.message);
      }
      showSettings().catch((error) => tell($("line"), error.message));
    });
  }
  for (const [tag, name] of Object.entries(LANGUAGES)) $("language").add(new Option(name, tag, false, tag === LANGUAGE));
  $("language").addEventListener("change", () => {
    localStorage.setItem("language", $("language").value);
    location.reload();
  });
}

function turnTo() {
  const wanted = location.hash === "#lichess" ? "desk" : ["desk", "wall", "games", "settings"].find((part) => location.hash === "#" + part) || "boards";
  for (const part of ["boards", "desk", "wall", "games", "settings"]) $(part).hidden = part !== wanted;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === "#" + wanted) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  listen();
  enlargeChosen();
  if (wanted === "desk") showDesk().then(() => location.hash === "#lichess" && $("lichess").focus());
  if (wanted === "games") showGames().catch(gamesFail);
  if (wanted === "settings") showLogin();
}

window.addEventListener("hashchange", () => {
  turnTo();
  const [large] = $("large").children;
  if (large && location.hash === "#" + large.id) {
    large.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }
});

/** The menu that is open. */
const openMenu = () => [...boards.values()].find((board) => board.part(".menu").open);

document.addEventListener("click", (event) => {
  const board = openMenu();
  if (board && !board.part(".menu").contains(event.target)) board.part(".menu").open = false;
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") openMenu()?.closeMenu();
});

/** Once all scripts are there. */
function begin() {
  document.documentElement.lang = LANGUAGE;
  translate(document);
  beginSwitches();
  turnTo();
}
