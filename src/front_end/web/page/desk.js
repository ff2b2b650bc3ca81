// The desk: boards that are found and added, and who plays at them. What is pressed here is kept over restarts.
"use strict";

/** How often it is looked what is plugged in, while this part is shown. */
const FOUND_MS = 3000;
/** What is weaker than any rating that Stockfish takes: its `Skill Level`, and how many plies deep it looks. */
const LEVELS = [{ level: 0, depth: 1 }, { level: 0, depth: 3 }, { level: 0, depth: 5 }];
/** Ratings to choose from, within what Stockfish takes. */
const ELOS = [1350, 1500, 1700, 1900, 2100, 2400, 2700];
/** Times for a move, in seconds. */
const SECONDS = [1, 3, 10, 30];

const desk = { timer: null, engines: [], found: "", shown: "", looked: false };

/** Says something that was done, or why it was not. */
async function does(work) {
  try {
    const answer = await work();
    if (answer.done) tell($("desk-said"), answer.done);
    else quote($("desk-said"), t("added-it", { board: answer.board }));
  } catch (error) {
    tell($("desk-said"), error.message);
  }
  desk.found = desk.shown = lichess.shown = "";
  await showDesk();
}

function deskButton(words, work, look = "") {
  const made = element("button", look, words);
  made.type = "button";
  made.disabled = !settings.may_control;
  made.addEventListener("click", async () => {
    made.disabled = true;
    write($("desk-said"), t("wait-desk"));
    await does(work);
  });
  return made;
}

/** A button that lets a board show which one it is: the list stays as it is, and so does the place of the keyboard. */
function tryButton(words, work) {
  const made = element("button", "", words);
  made.type = "button";
  made.addEventListener("click", async () => {
    if (made.ariaDisabled === "true") return;
    made.ariaDisabled = "true";
    quote($("desk-said"), t("trying"));
    try {
      const answer = await work();
      if (answer.lamps) quote($("desk-said"), t("lamps-ran"));
      else tell($("desk-said"), answer.done);
    } catch (error) {
      tell($("desk-said"), error.message);
    }
    made.ariaDisabled = "false";
  });
  return made;
}

/** A button that asks once more. */
function sureButton(words, work) {
  const made = deskButton(words, work);
  made.addEventListener("click", (event) => {
    if (made.dataset.sure) return;
    event.stopImmediatePropagation();
    made.dataset.sure = "yes";
    write(made, t("press-again", { words }));
    setTimeout(() => { delete made.dataset.sure; write(made, words); }, SURE_MS);
  }, { capture: true });
  return made;
}

/** A choice with its label. */
function choice(words, options) {
  const label = element("label");
  const select = element("select");
  for (const [value, text] of options) select.add(new Option(text, value));
  label.append(element("span", "", words), select);
  return [label, select];
}

function nameField(words, value) {
  const label = element("label");
  const input = element("input");
  Object.assign(input, { type: "text", maxLength: 32, autocomplete: "off", spellcheck: false, value });
  label.append(element("span", "", words), input);
  return [label, input];
}

/** The fields and the folded parts of an item, by what they are and their words. */
const partsOf = (item) => new Map([...item.querySelectorAll("label > select, label > input, details")].map((part) => [part.localName + (part.localName === "details" ? part.firstElementChild : part.previousElementSibling).textContent, part]));

/** Shows these items in a list: what was chosen and typed in one that is replaced stays, as far as it fits. */
function showItems(list, keys, itemOf) {
  const before = new Map([...list.children].map((item) => [item.dataset.key, item]));
  const focused = document.activeElement;
  const items = keys.map((key) => {
    const item = itemOf(key);
    item.dataset.key = key.id ?? key;
    return item;
  });
  list.replaceChildren(...items);
  for (const item of items) {
    const known = before.get(item.dataset.key);
    for (const [words, was] of known ? partsOf(known) : []) {
      const part = partsOf(item).get(words);
      if (!part) continue;
      if (part.localName === "details") part.open = was.open;
      else if (part.localName === "input" || [...part.options].some(({ value, disabled }) => value === was.value && !disabled)) part.value = was.value;
      part.dispatchEvent(new Event("change"));
      if (was === focused) part.focus();
    }
  }
}

/** What was typed into these fields, without those that are empty. */
const named = (fields) => Object.fromEntries(Object.entries(fields).map(([key, { value }]) => [key, value.trim()]).filter(([, value]) => value));

function foundItem(found) {
  const item = element("li");
  const what = element("p");
  what.append(element("strong", "", found.name), " ", tell(element("span", "about"), found.why));
  const [nameLabel, name] = nameField(t("its-name"), "");
  name.placeholder = t("by-kind");
  item.append(what, nameLabel);
  let kind = null;
  if (found.kinds.length > 1) {
    const [label, select] = choice(t("its-kind"), [["", t(found.transport === "serial" ? "ask-it" : "choose")], ...found.kinds.map((one) => [one, kindTitle(one)])]);
    kind = select;
    item.append(label);
  }
  const [keyLabel, key] = nameField(t("key"), "");
  const keyHow = element("p", "about", t("key-how"));
  const fit = () => { keyLabel.hidden = keyHow.hidden = !isKeyed(kind ? kind.value : found.kinds[0]); };
  kind?.addEventListener("change", fit);
  fit();
  item.append(keyLabel, keyHow);
  const is = () => ({ ...(kind?.value ? { kind: kind.value } : {}), ...(keyLabel.hidden ? {} : named({ key })) });
  const buttons = element("p", "fields");
  buttons.append(
    deskButton(t("add"), () => ask(`found/${found.id}/add`, { ...named({ name }), ...is() }), "main"),
    tryButton(t("try"), () => ask(`found/${found.id}/try`, is())),
  );
  item.append(buttons);
  return item;
}

/** The key of a board that was added: it is entered anew, for it is shown to nobody. */
function keyPart(name) {
  const part = element("details");
  const [label, field] = nameField(t("key"), "");
  const fields = element("p", "fields");
  fields.append(label, deskButton(t("key-set"), async () => {
    const done = await ask(`boards/${name}/key`, { key: field.value.trim() });
    field.value = "";
    return done;
  }));
  part.append(element("summary", "", t("key")), element("p", "about", t("key-how")), fields);
  return part;
}

/** The link of this board that was started here. */
const linkOf = (name) => settings.linked.find((id) => id.split(".").includes(name));

const hasOpponent = (name) => settings.fixed.includes(name) || settings.started.includes(name) || linkOf(name) !== undefined;

function boardItem(name) {
  const item = element("li");
  item.append(element("h3", "", name));
  const plays = element("p", "fields");
  const link = linkOf(name);
  if (settings.fixed.includes(name)) {
    plays.className = "hint";
    write(plays, t("who-fixed"));
  } else if (link) {
    plays.append(t("with", { names: calledAll(link.split(".").filter((other) => other !== name).map((other) => "the link with " + other)) }));
    plays.append(deskButton(t("stop"), () => ask("links/" + encodeURIComponent(link), null, "DELETE")));
  } else if (settings.started.includes(name)) {
    const holders = boards.get(name)?.state?.holders || [];
    if (holders.length) plays.append(t("with", { names: calledAll(holders) }));
    plays.append(deskButton(t("stop"), () => ask(`boards/${name}/opponent`, null, "DELETE")));
  } else {
    // A board that was chosen for Lichess plays no other board.
    const isFree = (other) => other !== settings.lichess_chosen && !hasOpponent(other);
    const others = [...boards.keys()].filter((other) => other !== name && isFree(name) && isFree(other));
    const [whoLabel, who] = choice(t("against"), [
      ...desk.engines.map(({ name: engine }) => ["engine " + engine, capital(engine)]),
      ["people", t("two-people")],
      ...others.map((other) => ["board " + other, t("board", { board: other })]),
    ]);
    const [strengthLabel, strength] = choice(t("strength"), [
      ["{}", t("full")],
      ...LEVELS.map((one, at) => [JSON.stringify(one), `${t("level")} ${at + 1}`]),
      ...ELOS.map((elo) => [JSON.stringify({ elo }), "Elo " + elo]),
    ]);
    const [handLabel, hand] = choice(t("you-play"), [["white", t("white")], ["black", t("black")], ["alternate", t("in-turns")]]);
    const [timeLabel, time] = choice(t("thinks"), SECONDS.map((one) => [one, t("seconds", { seconds: one })]));
    const [whiteLabel, white] = nameField(t("name-of-white"), "");
    const [blackLabel, black] = nameField(t("name-of-black"), "");
    const asks = {
      engine: [strengthLabel, handLabel, timeLabel],
      people: [whiteLabel, blackLabel],
      board: [handLabel],
    };
    const fit = () => {
      const [way] = who.value.split(" ");
      for (const label of Object.values(asks).flat()) label.hidden = !asks[way].includes(label);
      // The colours of two boards stay.
      hand.options[2].disabled = way === "board";
      if (way === "board" && hand.selectedIndex === 2) hand.selectedIndex = 0;
    };
    who.addEventListener("change", fit);
    fit();
    const begins = () => {
      const [way, other] = who.value.split(" ");
      if (way === "board") return ask("links", { boards: hand.value === "black" ? [other, name] : [name, other] });
      if (way === "people") return ask(`boards/${name}/opponent`, named({ white, black }));
      const { depth, ...weaker } = JSON.parse(strength.value);
      const go = `movetime ${1000 * time.value}` + (depth ? ` depth ${depth}` : "");
      return ask(`boards/${name}/opponent`, { engine: other, hand: hand.value, go, ...weaker });
    };
    plays.append(whoLabel, strengthLabel, handLabel, timeLabel, whiteLabel, blackLabel, deskButton(t("play"), async () => {
      const answer = await begins();
      // Whoever has turned to another part meanwhile stays there.
      if (!$("desk").hidden) location.hash = "board-" + name;
      return answer;
    }, "main"));
  }
  item.append(plays);
  if (settings.added.includes(name)) {
    const keep = element("details");
    const [label, field] = nameField(t("other-name"), name);
    const fields = element("p", "fields");
    fields.append(
      label,
      deskButton(t("rename"), () => ask(`boards/${name}/rename`, { name: field.value })),
      sureButton(t("remove"), () => ask("boards/" + name, null, "DELETE")),
    );
    keep.append(element("summary", "", t("name-remove")), fields);
    item.append(keep);
    if (settings.keyed.includes(name)) item.append(keyPart(name));
  } else if (settings.kinds.length) {
    // Where nothing can be added, no board is in a file.
    item.append(element("p", "hint", t("board-fixed")));
  }
  return item;
}

/** Shows what has changed: a list that is the same keeps what was typed. */
async function showDesk() {
  clearTimeout(desk.timer);
  if ($("desk").hidden || document.hidden) return;
  desk.timer = setTimeout(showDesk, FOUND_MS);
  try {
    await showSettings();
    tell($("desk-why"), settings.may_control ? "" : settings.why_not);
    if (settings.may_control) await look();
  } catch (error) {
    tell($("desk-why"), error.message);
  }
  await showLichess();
  const { added, keyed, started, linked, fixed, lichess_chosen } = settings;
  const text = JSON.stringify([added, keyed, started, linked, fixed, lichess_chosen, desk.engines, [...boards.keys()]]);
  if (desk.shown === text) return;
  desk.shown = text;
  showItems($("at-boards"), [...boards.keys()], boardItem);
}

/** What is installed, and what is plugged in. */
async function look() {
  if (!desk.engines.length) desk.engines = await ask("engines");
  $("no-engine").hidden = desk.engines.length > 0;
  const found = await ask("found");
  $("none-found").hidden = found.length > 0;
  $("unseen").replaceChildren(...settings.unseen.map((why) => tell(element("li"), why)));
  listKinds();
  // Once: whoever closes it does not want it.
  if (!found.length && !desk.looked) $("how").open = true;
  desk.looked = true;
  const text = JSON.stringify(found);
  if (desk.found !== text) showItems($("found"), found, foundItem);
  desk.found = text;
}

$("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText($("program-line").textContent);
    write($("desk-said"), t("copied"));
  } catch {
    getSelection().selectAllChildren($("program-line"));
    write($("desk-said"), t("copy-by-hand"));
  }
});
document.addEventListener("visibilitychange", showDesk);
