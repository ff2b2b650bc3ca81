// Moves as a list, and a game as PGN.
"use strict";

/** Fills a list with moves; it is drawn again only if something is new. */
function list(into, state, now) {
  const key = JSON.stringify([state.san, state.took, state.clocks, now]);
  if (into.dataset.key === key) return;
  into.dataset.key = key;
  const black = state.start === "black" ? 1 : 0;
  into.replaceChildren(...state.san.map((san, index) => {
    const ply = index + black;
    const number = state.first + Math.floor(ply / 2);
    const item = element("li", index === now ? "now" : "");
    const before = ply % 2 === 0 ? number + ". " : index === 0 ? number + "… " : "";
    item.append(before + san);
    item.classList.toggle("second", ply % 2 === 1);
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

/** What an engine makes of a position, as chess players write it: pawns, or # and the moves to mate; + is good for White. */
function worth({ cp, mate }) {
  const of = mate ?? cp;
  const sign = of > 0 ? "+" : of < 0 ? "−" : "";
  return mate === undefined ? sign + (Math.abs(cp) / 100).toFixed(1) : `${sign}#${Math.abs(mate)}`;
}

/** Who began, and with which move, in the game of a board. */
function begun(state) {
  const fen = state.game.startsWith("fen ") ? state.game.split(" ").slice(1, 7) : null;
  return { fen: fen?.join(" "), start: fen?.[1] === "b" ? "black" : "white", first: Number(fen?.[5]) || 1 };
}

/** Whether somebody castles in this position as in Chess960 only: the king does not stand on the e file, or the rook in no corner. */
function isChess960(fen) {
  const [placed, , castling] = fen.split(" ");
  const ranks = placed.replace(/\d/g, (empty) => " ".repeat(empty)).split("/");
  return [...castling.replace("-", "")].some((right) => {
    const side = right.toUpperCase();
    const rank = right === side ? ranks[7] : ranks[0].toUpperCase();
    return rank[4] !== "K" || rank[{ K: 7, Q: 0 }[side]] !== "R";
  });
}

/** The tags of a game that does not begin with the usual position. */
function startTags(fen) {
  return { ...(isChess960(fen) ? { Variant: "Chess960" } : {}), SetUp: "1", FEN: fen };
}

/** Tags as PGN has them, a line each. */
function written(tags) {
  const quoted = (value) => value.replace(/[\\"]/g, "\\$&");
  return Object.entries(tags).map(([name, value]) => `[${name} "${quoted(value)}"]\n`).join("");
}

/** A board's game as PGN. */
function pgn(state) {
  const { fen, start, first } = begun(state);
  const black = start === "black" ? 1 : 0;
  const tags = {
    Event: state.pairing?.tournament || "?", Site: state.pairing?.site || "?", Date: state.at.slice(0, 10).replaceAll("-", "."), Round: "-",
    White: state.pairing?.white?.name || "?", Black: state.pairing?.black?.name || "?", Result: state.outcome || "*",
    ...(fen ? startTags(fen) : {}),
  };
  const moves = state.san.map((san, index) => {
    const number = first + Math.floor((index + black) / 2);
    return (index + black) % 2 === 0 ? number + ". " + san : index === 0 ? number + "... " + san : san;
  });
  return written(tags) + "\n" + [...moves, tags.Result].join(" ") + "\n";
}

/** Where Lichess shows this game, or analyses its moves; it is told them by the player's click. */
function analysis(state) {
  const { fen } = begun(state);
  if (/^https:\/\/lichess\.org\/\w+$/.test(state.pairing?.site)) return state.pairing.site;
  const game = (fen ? written(startTags(fen)).replaceAll("\n", " ") : "") + state.san.join(" ");
  return "https://lichess.org/analysis/pgn/" + encodeURIComponent(game);
}
