// What the daemon says in words of its own: the page says it in its language. The words are in told_sentences.js; what has no form there is
// shown as it is, in English.
"use strict";

/** Values that are moves. */
const MOVES = ["move", "made", "again"];
/** Values that are sentences or words of the table themselves. */
const WITHIN = ["why", "end", "winner", "loser", "color", "title"];

/** How the daemon names who plays, and the page's words for it. */
const CLIENTS = [
  [/^the link with (.*)$/, "client.link"], [/^the engine (.*)$/, "client.engine"], [/^the WhitePawn app \(.*?\)(.*)$/, "client.app"],
  [/^LiveChess at ([^ ]*)/, "client.livechess"], [/^two players$/, "client.two"], [/^Hand on (.*)$/, "client.hand"],
  [/^([\d.]+|\[.*\]):\d+/, "client.program"],
];

/** Who plays, in the page's words. */
function called(name) {
  for (const [form, key] of CLIENTS) {
    const found = form.exec(name);
    if (found) return t(key, { name: found[1] });
  }
  return name;
}

/** Several of them. */
const calledAll = (names) => names.map(called).join(t("and"));

/** A sentence with names for its values, as a pattern. */
function form(sentence) {
  const source = sentence.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{(\w+)\}/g, "(?<$1>.*?)");
  return new RegExp(`^${source}$`, "s");
}

/** The forms of sentences with the page's words for them. What leaves least open comes first. */
const FORMS = Object.keys(SENTENCES.de)
  .sort((a, b) => b.replace(/\{\w+\}/g, "").length - a.replace(/\{\w+\}/g, "").length)
  .map((sentence) => [form(sentence), SENTENCES[LANGUAGE]?.[sentence] ?? (LANGUAGE === "en" ? sentence : null)])
  .filter(([, words]) => words !== null);

/** A sentence of the daemon in the page's language. `null`: it has none there. `state` is that of the board whose moves are in it. */
function retold(text, state) {
  for (const [known, words] of FORMS) {
    const found = known.exec(text || "");
    if (!found) continue;
    const values = { ...found.groups };
    for (const name of MOVES) if (values[name] && state) values[name] = moveInWords(values[name], state.fen, state.last);
    for (const name of WITHIN) if (values[name]) values[name] = retold(values[name], state) ?? values[name];
    return filled(words, values);
  }
  return null;
}

/** What the daemon says, in the page's language or as it is; and whether that is so. */
function worded(text, state) {
  const words = text ? retold(text, state) : "";
  return { words: capital((words ?? text).replace("\n", ". ")), quoted: words === null };
}

/** Writes what the daemon says. */
function tell(into, text, state) {
  const { words, quoted } = worded(text, state);
  return quote(into, words, quoted);
}
