// How each kind of board is switched on and connected: a picture of shared parts, and a sentence. The words are in words.js, as "on.KIND"; a
// kind that has none there is told of by the way it is reached. Each kind has a row in PICTURES: `tests/project/boards.rs` holds that.
"use strict";

/** Something at each square of a small board. */
const squares = (drawn) => Array.from({ length: 16 }, (_, at) => drawn(20 + 8 * (at % 4), 20 + 8 * (at >> 2), at % 4 ^ (at >> 2) % 2)).join("");
const rows = [24, 32, 40, 48];
/** What a picture is made of: lines, areas, and lamps. */
const PARTS = {
  board: { line: "M20 20h32v32h-32zM112 44h36v20h-36zM118 70h24M130 64v6" },
  squares: { full: squares((x, y, odd) => (odd % 2 ? `M${x} ${y}h8v8h-8z` : "")) },
  buttons: { line: squares((x, y) => `M${x + 2} ${y + 4}a2 2 0 1 0 4 0a2 2 0 1 0-4 0`) },
  lamps: { lamp: squares((x, y) => `M${x + 4} ${y + 4}h0`) },
  edges: { lamp: rows.map((at) => `M15 ${at}h0M${at} 57h0`).join("") },
  sides: { line: "M8 20h7v32h-7zM57 20h7v32h-7z" },
  clock: { line: "M20 62h32v13h-32zM36 62v13M25 68h6M41 68h6" },
  key: { line: "M40 70a4 4 0 1 0 8 0a4 4 0 1 0-8 0M48 70h12M56 70v4M60 70v4" },
  on: { line: "M33 9a5 5 0 1 0 6 0M36 5v6" },
  cable: { line: "M52 46C72 46 72 58 92 58", full: "M92 53h10v10h-10zM102 55h6v6h-6z" },
  adapter: { line: "M52 46C60 46 60 58 66 58M84 58h8M66 51h18v14h-18z", full: "M92 53h10v10h-10zM102 55h6v6h-6z" },
  arduino: { line: "M52 46C60 46 60 58 66 58M84 58h8M66 51h18v14h-18zM70 51v-3M75 51v-3M80 51v-3M70 65v3M75 65v3M80 65v3", full: "M92 53h10v10h-10zM102 55h6v6h-6z" },
  air: { line: "M70 22q6 7 0 14M77 17q11 12 0 24M84 12q16 17 0 34" },
  phone: { line: "M14 60h12v22h-12zM18 78h4", bad: "M8 82l24-22" },
};
/** What each kind looks like, and how it is reached, as far as that is known. */
const PICTURES = {
  "novag-citrine": "squares edges on cable",
  "novag-ucb": "squares on adapter",
  "miko-neo": "squares lamps sides on air phone",
  "swpp": "buttons arduino",
  "chessnut": "squares lamps on air cable phone",
  "dgt": "squares clock cable",
  "dgt-pegasus": "squares lamps on air phone key",
};

/** A picture, with words for those who do not see it. */
function howPicture(kind, media) {
  const parts = ["board", ...(PICTURES[kind] || (media[0] === "ble" ? "squares on air phone" : "squares on cable")).split(" ")];
  const words = parts.map((part) => t("picture." + part)).filter(Boolean).join(", ");
  const picture = drawn("svg", { viewBox: "0 0 156 84", role: "img", "aria-label": words });
  for (const part of parts) {
    for (const [look, path] of Object.entries(PARTS[part])) drawn("path", { class: look, d: path }, picture);
  }
  return picture;
}

/** The sentence of a kind, or of the way it is reached. */
function howWords(kind, media) {
  const known = "on." + kind in WORDS.en;
  return t(known ? "on." + kind : media[0] === "ble" ? "on.air" : "on.cable");
}

/** Shows how the chosen kind is switched on. */
function showHow() {
  const chosen = settings.kinds.find(({ kind }) => kind === $("how-kind").value);
  if (!chosen) return $("how-shown").replaceChildren();
  const { kind, media } = chosen;
  $("how-shown").replaceChildren(howPicture(kind, media), element("p", "", howWords(kind, media)));
}

/** The kinds to choose from; what was chosen stays. */
function listKinds() {
  const kinds = settings.kinds || [];
  $("how").hidden = !kinds.length;
  if ($("how-kind").options.length === kinds.length + 1) return;
  $("how-kind").replaceChildren(new Option(t("choose"), ""), ...kinds.map(({ kind }) => new Option(kindTitle(kind), kind)));
}

/** Whether a key unlocks such boards. */
const isKeyed = (kind) => settings.kinds?.some((one) => one.kind === kind && one.key);

/** The name of a kind, as a player knows it. */
function kindTitle(kind) {
  const title = settings.kinds?.find((one) => one.kind === kind)?.title;
  return retold(title) ?? title ?? kind;
}

$("how-kind").addEventListener("change", showHow);
