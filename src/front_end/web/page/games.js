// The kept games, and the replay of one.
"use strict";

const replay = { game: null, ply: 0, picture: null };

async function showGames(before) {
  const games = await ask("games" + (before ? "?before=" + before : ""));
  if (!before) $("list").replaceChildren();
  $("no-games").hidden = games.length > 0 || Boolean(before);
  for (const game of games) {
    const item = element("li");
    const moves = Math.ceil(game.plies / 2);
    item.append(
      element("span", "players", `${called(game.white)} – ${called(game.black)}`),
      element("span", "", game.result),
      element("span", "about", `${game.board}, ${new Date(game.begun).toLocaleString(LANGUAGE, { dateStyle: "medium", timeStyle: "short" })}, ${t(moves === 1 ? "count-one" : "count", { count: moves })}`),
    );
    const open = element("button", "", t("replay"));
    open.type = "button";
    open.setAttribute("aria-label", t("replay-of", { game: `${game.white} – ${game.black}, ${game.begun}` }));
    open.addEventListener("click", () => openGame(game.file).catch(gamesFail));
    const load = element("a", "", "PGN");
    load.href = "/api/v1/games/" + game.file;
    load.download = game.file;
    load.setAttribute("aria-label", t("download", { file: game.file }));
    item.append(open, load);
    $("list").append(item);
  }
  const last = games.at(-1);
  $("older").hidden = games.length < 100;
  $("older").onclick = () => showGames(last.file).catch(gamesFail);
}

const gamesFail = (error) => tell($("line"), error.message);

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
  const label = made ? t("replay-after", { move: spoken(made.san) }) : t("replay-start");
  replay.picture.show(fen, { last: made ? ends(made.uci) : [] }, false, label);
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
