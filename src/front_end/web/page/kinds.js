// How each kind of board is switched on and connected: a picture and a sentence. The words are in words.js, as "on.KIND"; a kind that
// has none there is told of by the way it is reached.
"use strict";

/** The squares of a small board that are dark. */
const DARK = [0, 1, 2, 3].flatMap((row) => [0, 1].map((pair) => `M${10 + 16 * pair + 8 * (row % 2)} ${18 + 8 * row}h8v8h-8z`)).join("");
/** A switch: a circle that is open, and a line in it. */
const SWITCH = "M50 13a5 5 0 1 0 6 0M53 10v6";
/** The parts of each picture: lines, and what is filled. */
const PICTURES = {
  cable: { lines: "M44 34C66 34 62 54 84 54" + SWITCH, full: "M84 49h10v10h-10zM94 51h6v6h-6z" },
  adapter: { lines: "M44 34C54 34 54 54 60 54M80 54h8M60 47h20v14h-20z" + SWITCH, full: "M88 50h8v8h-8zM96 52h5v4h-5z" },
  air: { lines: "M60 26q7 8 0 16M68 21q12 13 0 26M76 16q17 18 0 36" + SWITCH, full: "", phone: true },
};
/** The picture of each kind that is not told by its transport alone. */
const PICTURE_OF = { "novag-ucb": "adapter" };

/** A picture, with words for those who do not see it. */
function howPicture(kind, media, words) {
  const { lines, full, phone } = PICTURES[PICTURE_OF[kind] || (media[0] === "ble" ? "air" : "cable")];
  const picture = drawn("svg", { viewBox: "0 0 150 80", role: "img", "aria-label": words });
  drawn("path", { class: "full", d: DARK }, picture);
  drawn("path", { d: "M10 18h32v32h-32zM102 44h36v20h-36zM108 70h24M120 64v6" + lines }, picture);
  if (full) drawn("path", { class: "full", d: full }, picture);
  if (phone) {
    drawn("path", { d: "M18 56h12v20h-12zM22 73h4" }, picture);
    drawn("path", { class: "bad", d: "M12 76l24-20" }, picture);
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
  const by = PICTURE_OF[kind] || (media[0] === "ble" ? "air" : "cable");
  $("how-shown").replaceChildren(howPicture(kind, media, t("picture." + by)), element("p", "", howWords(kind, media)));
}

/** The kinds to choose from; what was chosen stays. */
function listKinds() {
  const kinds = settings.kinds || [];
  $("how").hidden = !kinds.length;
  if ($("how-kind").options.length === kinds.length + 1) return;
  $("how-kind").replaceChildren(new Option(t("choose"), ""), ...kinds.map(({ kind, title }) => new Option(title, kind)));
}

/** The name of a kind, as a player knows it. */
const kindTitle = (kind) => settings.kinds?.find((one) => one.kind === kind)?.title || kind;

$("how-kind").addEventListener("change", showHow);
