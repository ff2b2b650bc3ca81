// Settings that are kept for all, unless the configuration has them.
"use strict";

/** What shows each of them as it is. */
const KEPT = [];

const chosen = { part: element("section"), bar: element("div", "switches"), said: element("p", "answer") };
chosen.said.setAttribute("role", "status");

/** A control with its label, for a setting by its name in the API. `said` tells what a change has done. */
function keeps(name, words, control, isFixed, said) {
  const label = element("label");
  const text = element("span", "", words);
  const isSwitch = control.type === "checkbox";
  label.append(text, control);
  control.addEventListener("change", async () => {
    try {
      tell(said, (await ask("settings", { [name]: isSwitch ? control.checked : control.value })).done);
    } catch (error) {
      tell(said, error.message);
    }
    showLogin();
  });
  KEPT.push(() => {
    const fixed = isFixed(settings);
    control.fill?.();
    // What is being typed stays.
    if (isSwitch) control.checked = settings[name];
    else if (control.type !== "text" || document.activeElement !== control) control.value = settings[name] ?? "";
    control.disabled = !settings.may_control || fixed;
    write(text, fixed ? t("fixed", { words }) : words);
  });
  return label;
}

function textField() {
  const input = element("input");
  return Object.assign(input, { type: "text", maxLength: 60, autocomplete: "off", spellcheck: false });
}

function switchField() {
  const input = element("input");
  input.type = "checkbox";
  input.setAttribute("role", "switch");
  return input;
}

function selectField(options) {
  const select = element("select");
  for (const [value, text] of options) select.add(new Option(text, value));
  return select;
}

/** A choice among the boards, after these options. */
function boardsField(options) {
  const select = selectField(options);
  let shown = "";
  select.fill = () => {
    const names = [...boards.keys()];
    if (shown === names.join()) return;
    shown = names.join();
    select.replaceChildren(...options.map(([value, text]) => new Option(text, value)), ...names.map((name) => new Option(name, name)));
  };
  return select;
}

/** Shows all of them as they are. */
function showKept() {
  for (const show of KEPT) show();
  app.part.hidden = !settings.kinds?.length;
}

/** A setting of saved games. */
function gamesField(key, control) {
  return keeps(key, t(key), control, ({ games_fixed }) => games_fixed?.includes(key), chosen.said);
}

chosen.bar.append(gamesField("player", textField()), gamesField("site", textField()), gamesField("every_move", switchField()));
chosen.part.append(element("h3", "", t("saved")), chosen.bar, chosen.said);

/** Which board the app plays on, for each way to it. */
const app = { part: element("section"), bar: element("div", "switches"), said: element("p", "answer") };
app.said.setAttribute("role", "status");
for (const way of ["ble", "rfcomm", "tcp"]) {
  const field = boardsField([["", t("off")]]);
  app.bar.append(keeps("whitepawn_" + way, t("app." + way), field, ({ whitepawn_fixed }) => whitepawn_fixed?.includes(way), app.said));
}
app.part.append(element("h3", "", t("app")), element("p", "hint", t("app-how")), app.bar, app.said);

for (const { part } of [chosen, app]) $("about").before(part);
