// The desk: boards that are found and added, and who plays at them. What is pressed here is kept over restarts.
"use strict";

/** How often it is looked what is plugged in, while this part is shown. */
const FOUND_MS = 3000;
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
  const is = () => (kind?.value ? { kind: kind.value } : {});
  const buttons = element("p", "fields");
  buttons.append(
    deskButton(t("add"), () => ask(`found/${found.id}/add`, { ...(name.value && { name: name.value }), ...is() }), "main"),
    tryButton(t("try"), () => ask(`found/${found.id}/try`, is())),
  );
  item.append(buttons);
  return item;
}

function boardItem(name) {
  const item = element("li");
  item.append(element("h3", "", name));
  const plays = element("p", "fields");
  if (settings.started.includes(name)) {
    const holders = boards.get(name)?.state?.holders || [];
    if (holders.length) plays.append(t("with", { names: calledAll(holders) }));
    plays.append(deskButton(t("stop"), () => ask(`boards/${name}/opponent`, null, "DELETE")));
  } else {
    const others = [...boards.keys()].filter((other) => other !== name);
    const [whoLabel, who] = choice(t("against"), [
      ...desk.engines.map(({ name: engine }) => ["engine " + engine, capital(engine)]),
      ["people", t("two-people")],
      ...others.map((other) => ["board " + other, t("board", { board: other })]),
    ]);
    const [eloLabel, elo] = choice(t("strength"), [["", t("full")], ...ELOS.map((one) => [one, "Elo " + one])]);
    const [handLabel, hand] = choice(t("you-play"), [["white", t("white")], ["black", t("black")], ["alternate", t("in-turns")]]);
    const [timeLabel, time] = choice(t("thinks"), SECONDS.map((one) => [one, t("seconds", { seconds: one })]));
    const more = [eloLabel, handLabel, timeLabel];
    const fit = () => more.forEach((label) => { label.hidden = !who.value.startsWith("engine "); });
    who.addEventListener("change", fit);
    fit();
    plays.append(whoLabel, ...more, deskButton(t("play"), () => {
      const [way, other] = who.value.split(" ");
      if (way === "board") return ask("links", { boards: [name, other] });
      const engine = way === "engine" ? { engine: other, hand: hand.value, go: `movetime ${1000 * time.value}`, ...(elo.value && { elo: Number(elo.value) }) } : {};
      return ask(`boards/${name}/opponent`, engine);
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
  }
  return item;
}

function linkItem(id) {
  const item = element("li");
  item.append(element("h3", "", id.split(".").join(" – ")), deskButton(t("stop"), () => ask("links/" + encodeURIComponent(id), null, "DELETE")));
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
  const { added, started, linked } = settings;
  const text = JSON.stringify([added, started, linked, desk.engines, [...boards.keys()]]);
  if (desk.shown === text) return;
  desk.shown = text;
  $("at-boards").replaceChildren(...[...boards.keys()].map(boardItem), ...linked.map(linkItem));
}

/** What is installed, and what is plugged in. */
async function look() {
  if (!desk.engines.length) desk.engines = await ask("engines");
  const found = await ask("found");
  $("none-found").hidden = found.length > 0;
  listKinds();
  // Once: whoever closes it does not want it.
  if (!found.length && !desk.looked) $("how").open = true;
  desk.looked = true;
  const text = JSON.stringify(found);
  if (desk.found !== text) $("found").replaceChildren(...found.map(foundItem));
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
