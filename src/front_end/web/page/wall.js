// The wall: all boards small on one screen. It has a stream of its own, which tells of a board only what a small picture shows.
"use strict";

/** A picture smaller than this, in pixels, shows nothing: further boards are below the screen then. */
const LEAST_TILE = 56;
/** What stands below a picture, in pixels. */
const LABEL = 22;

const wall = { tiles: new Map(), stream: null, again: null, deadline: null, wait: FIRST_WAIT_MS, fresh: new Map(), newest: null, columns: 1, big: null };

/** A small picture, of which only the squares that change are drawn again. */
class Small {
  constructor(into) {
    this.svg = drawn("svg", { class: "chess small", viewBox: "0 0 800 800", "aria-hidden": "true" });
    this.marks = [0, 1].map(() => drawn("rect", { width: 100, height: 100, class: "last", visibility: "hidden" }, this.svg));
    this.pieces = new Map();
    into.append(this.svg);
  }

  show(fen, last) {
    const found = pieces(fen);
    for (const [square, piece] of this.pieces) {
      if (found.get(square) === piece.sign) continue;
      piece.drawn.remove();
      this.pieces.delete(square);
    }
    for (const [square, sign] of found) {
      if (this.pieces.has(square)) continue;
      const [x, y] = Small.at(square);
      const use = drawn("use", {
        href: "#" + sign.toLowerCase(), x: x + 5, y: y + 5, width: 90, height: 90, class: sign < "a" ? "w" : "b",
      }, this.svg);
      this.pieces.set(square, { sign, drawn: use });
    }
    [0, 2].forEach((from, index) => {
      const mark = this.marks[index];
      mark.setAttribute("visibility", last ? "visible" : "hidden");
      if (!last) return;
      const [x, y] = Small.at(last.slice(from, from + 2));
      mark.setAttribute("x", x);
      mark.setAttribute("y", y);
    });
  }

  static at(square) {
    return [(square.charCodeAt(0) - 97) * 100, (8 - Number(square[1])) * 100];
  }
}

class Tile {
  constructor(name) {
    this.name = name;
    this.button = element("button", "tile");
    this.button.type = "button";
    this.button.id = "tile-" + name;
    this.button.tabIndex = -1;
    this.picture = new Small(this.button);
    this.button.append(element("span", "", name));
    this.button.addEventListener("click", () => enlarge(name));
  }

  show(state) {
    const moved = this.state && state.ply > this.state.ply;
    this.state = state;
    this.picture.show(state.fen, state.last);
    this.button.dataset.ply = state.ply;
    this.button.classList.toggle("away", state.link !== "up" && state.link !== "unheard");
    this.button.setAttribute("aria-label", this.words());
    if (moved) newest(this);
  }

  words() {
    const { white, black, last, link, outcome } = this.state;
    const players = white || black ? between(this.state) : "";
    const move = last ? t("last-move", { from: last.slice(0, 2), to: last.slice(2) }) : "";
    const over = outcome && outcome !== "*" ? outcome : "";
    return [this.name, players, move, over, link === "up" ? "" : t("link." + link)].filter(Boolean).join(", ");
  }
}

/** Both players. */
function between({ white, black }) {
  return `${white || t("white")} – ${black || t("black")}`;
}

function newest(tile) {
  wall.newest?.button.classList.remove("newest");
  wall.newest = tile;
  tile.button.classList.add("newest");
}

/** Draws what has come since the last picture of the screen, at once. */
function drawFresh() {
  const fresh = wall.fresh;
  wall.fresh = new Map();
  for (const [name, state] of fresh) {
    wall.tiles.get(name)?.show(state);
    if (name === wall.big) showBig();
  }
}

function arrangeWall(names) {
  for (const [name, tile] of wall.tiles) {
    if (names.includes(name)) continue;
    tile.button.remove();
    wall.tiles.delete(name);
    if (name === wall.big) $("big").close();
  }
  for (const name of names) {
    if (!wall.tiles.has(name)) wall.tiles.set(name, new Tile(name));
    $("tiles").append(wall.tiles.get(name).button);
  }
  reach($("tiles").querySelector("[tabindex='0']") || $("tiles").firstElementChild);
  fit();
}

/** The largest pictures with which all boards are on the screen. */
function fit() {
  const into = $("tiles");
  const count = wall.tiles.size;
  if (!count || $("wall").hidden) return;
  const width = into.clientWidth;
  const height = window.innerHeight - into.getBoundingClientRect().top - window.scrollY;
  const most = Math.max(1, Math.floor(width / LEAST_TILE));
  let columns = 1;
  while (columns < most && Math.ceil(count / columns) * (width / columns + LABEL) > height) columns++;
  wall.columns = columns;
  into.style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
}

/** One board of the wall is reached by Tab, the others from there by arrows. */
function reach(button) {
  if (!button) return;
  $("tiles").querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
  button.tabIndex = 0;
}

$("tiles").addEventListener("focusin", (event) => reach(event.target.closest(".tile")));

$("tiles").addEventListener("keydown", (event) => {
  const all = [...$("tiles").children];
  const at = all.indexOf(event.target);
  const to = {
    ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - wall.columns, ArrowDown: at + wall.columns, Home: 0, End: all.length - 1,
  }[event.key];
  if (to === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  all[to]?.focus();
});

function enlarge(name) {
  wall.big = name;
  showBig();
  $("big").showModal();
}

function showBig() {
  const tile = wall.tiles.get(wall.big);
  if (!tile?.state) return;
  const { state } = tile;
  wall.picture ??= new Picture($("big-picture"));
  wall.picture.show(state.fen, { last: state.last ? ends(state.last) : [] }, false, tile.words() + ".");
  write($("big-title"), wall.big);
  const over = state.outcome && state.outcome !== "*" ? " " + state.outcome : "";
  write($("big-players"), (state.white || state.black ? between(state) : "") + over);
  tickBig();
}

function tickBig() {
  const clocks = wall.tiles.get(wall.big)?.state?.clocks;
  const now = (color) => {
    const gone = clocks.runs === color ? (Date.now() - Date.parse(clocks.at)) / 1000 : 0;
    return clock(clocks[color] - Math.max(0, gone));
  };
  write($("big-clocks"), clocks ? now("white") + " – " + now("black") : "");
}

$("big").addEventListener("close", () => { wall.big = null; });
$("big-close").addEventListener("click", () => $("big").close());

function connectWall() {
  disconnectWall();
  const stream = new EventSource("/api/v1/wall");
  wall.stream = stream;
  aliveWall();
  stream.addEventListener("open", () => {
    wall.wait = FIRST_WAIT_MS;
    write($("line"), t("connected"));
    $("line").classList.remove("lost");
    aliveWall();
  });
  stream.addEventListener("alive", aliveWall);
  stream.addEventListener("error", lostWall);
  stream.addEventListener("message", (message) => {
    aliveWall();
    const line = JSON.parse(message.data);
    if (line.event === "wall") {
      if (version !== null && version !== line.version) location.reload();
      version = line.version;
      arrangeWall(line.boards);
      return;
    }
    if (!wall.fresh.size) requestAnimationFrame(drawFresh);
    wall.fresh.set(line.board, line);
  });
}

function aliveWall() {
  clearTimeout(wall.deadline);
  wall.deadline = setTimeout(lostWall, DEAD_MS);
}

function lostWall() {
  stillPaired();
  disconnectWall();
  write($("line"), t("lost"));
  $("line").classList.add("lost");
  wall.again = setTimeout(connectWall, wall.wait);
  wall.wait = Math.min(2 * wall.wait, LAST_WAIT_MS);
}

function disconnectWall() {
  clearTimeout(wall.deadline);
  clearTimeout(wall.again);
  wall.stream?.close();
  wall.stream = null;
}

window.addEventListener("resize", fit);
setInterval(() => { if (wall.big && !document.hidden) tickBig(); }, 1000);
