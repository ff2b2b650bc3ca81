// How a phone comes to belong to the house: it enters a code that is shown on BoardBridge's computer.
"use strict";

/** How often the page that shows a code looks whether a phone has entered it. */
const LOOK_MS = 2000;

/** Whether this browser may see nothing yet. */
let isStranger = false;

/** Begins with the page, or with the question for the code. */
async function enter() {
  const code = /^#pair=(\d{6})$/.exec(location.hash)?.[1];
  if (code) history.replaceState(null, "", "/");
  if (await isUnknown()) askForCode(code || "");
  else begin();
  if (location.hash === "#settings") showPhones();
}

/** Whether the daemon does not know this browser. One that cannot be reached says nothing of it. */
async function isUnknown() {
  try {
    return (await fetch("/api/v1/settings")).status === 403;
  } catch {
    return false;
  }
}

/** After a lost connection: this phone may have been removed. */
async function stillPaired() {
  if (await isUnknown()) location.replace("/");
}

async function remove(id) {
  const response = await fetch("/api/v1/pairs/" + id, { method: "DELETE" });
  if (!response.ok) throw new Error((await response.json()).error);
}

// ---- on the phone

function field(form, id, words, attributes) {
  const label = element("label", "", words);
  label.htmlFor = id;
  const input = element("input");
  Object.assign(input, { id, ...attributes });
  form.append(label, input);
  return input;
}

function askForCode(known) {
  isStranger = true;
  document.documentElement.lang = LANGUAGE;
  translate(document);
  for (const part of document.querySelectorAll("nav, .skip, main > *")) part.hidden = true;
  write($("line"), t("pair-line"));
  const part = element("section");
  part.id = "pair";
  part.setAttribute("aria-labelledby", "pair-title");
  const title = element("h2", "", t("pair"));
  title.id = "pair-title";
  const how = element("p", "", t("pair-how"));
  const form = element("form");
  const code = field(form, "pair-code", t("pair-code"), {
    inputMode: "numeric", autocomplete: "one-time-code", maxLength: 7, required: true, value: known,
  });
  const model = /iPhone|iPad|Android|Windows|Mac|Linux/.exec(navigator.userAgent)?.[0] || "phone";
  const name = field(form, "pair-name", t("pair-name"), { maxLength: 40, required: true, value: model, autocomplete: "off" });
  const button = element("button", "main", t("pair-button"));
  const refused = element("p", "notice");
  refused.setAttribute("role", "alert");
  form.append(button, refused);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    try {
      await ask("pair", { code: code.value, name: name.value });
      location.replace("/");
    } catch (error) {
      tell(refused, error.message);
      code.select();
    }
    button.disabled = false;
  });
  part.append(title, how, form);
  $("main").append(part);
  (known ? button : code).focus();
}

// ---- on the page of those who may press

const phones = { part: null, list: null, shown: null, timer: null };

/** A part of Settings: which phones are paired, and on BoardBridge's computer the code for the next one. */
async function showPhones() {
  let paired, may;
  try {
    may = await ask("settings");
    if (may.control !== "paired" || !may.may_control) return;
    paired = await ask("pairs");
  } catch {
    // The page says that the connection is lost.
    return;
  }
  if (!phones.part) {
    phones.part = element("div");
    phones.part.id = "phones";
    phones.list = element("ul");
    phones.list.setAttribute("aria-label", t("phones"));
    phones.shown = element("div");
    phones.shown.setAttribute("role", "status");
    phones.part.append(element("h3", "", t("phones")), phones.list);
    if (may.may_pair) {
      const bar = element("p", "bar");
      const button = element("button", "", t("phone-pair"));
      button.type = "button";
      button.id = "pair-show";
      button.addEventListener("click", showCode);
      bar.append(button);
      phones.part.append(bar);
    }
    phones.part.append(phones.shown);
    $("about").before(phones.part);
  }
  // A list that has not changed keeps its focus.
  const key = JSON.stringify(paired);
  if (phones.list.dataset.key !== key) phones.list.replaceChildren(...paired.map(phone));
  phones.list.dataset.key = key;
  return paired;
}

function phone({ id, name, since, you }) {
  const item = element("li");
  const words = you ? t("phone-this", { name }) : name;
  item.append(element("span", "name", words), element("span", "about", t("phone-since", { day: new Date(since).toLocaleDateString(LANGUAGE) })));
  const button = element("button");
  button.type = "button";
  const beSure = (sure) => {
    const again = (said) => sure ? t("press-again", { words: said }) : said;
    button.classList.toggle("sure", sure);
    button.textContent = again(t("phone-remove"));
    button.setAttribute("aria-label", again(t("phone-remove-named", { name: words })));
  };
  beSure(false);
  button.addEventListener("click", async () => {
    if (!button.classList.contains("sure")) {
      beSure(true);
      setTimeout(() => beSure(false), SURE_MS);
      return;
    }
    try {
      await remove(id);
      if (you) location.replace("/");
      quote(phones.shown, t("phone-removed", { name }));
    } catch (error) {
      tell(phones.shown, error.message);
    }
    showPhones();
  });
  item.append(button);
  return item;
}

async function showCode() {
  clearInterval(phones.timer);
  try {
    const before = (await ask("pairs")).map(({ id }) => id);
    const shown = await ask("pair/code", {});
    const code = element("p", "code", shown.code.slice(0, 3) + " " + shown.code.slice(3));
    const how = element("p", "", t("code-how", { address: shown.addresses[0] }));
    const others = shown.addresses.slice(1).join(t("or"));
    phones.shown.lang = LANGUAGE;
    phones.shown.replaceChildren(how, code);
    if (shown.qr) phones.shown.append(picture(shown.qr));
    if (others) phones.shown.append(element("p", "hint", t("code-else", { addresses: others })));
    const end = Date.now() + shown.seconds * 1000;
    phones.timer = setInterval(async () => {
      const paired = await showPhones();
      const added = paired?.find(({ id }) => !before.includes(id));
      if (!added && Date.now() < end) return;
      clearInterval(phones.timer);
      quote(phones.shown, added ? t("phone-paired", { name: added.name }) : t("code-over"));
    }, LOOK_MS);
  } catch (error) {
    tell(phones.shown, error.message);
  }
}

/** A QR code, with the light frame that readers need. */
function picture({ size, path }) {
  const svg = drawn("svg", { class: "qr", viewBox: `-4 -4 ${size + 8} ${size + 8}`, role: "img", "aria-label": t("code-picture") });
  drawn("path", { d: path }, svg);
  return svg;
}

window.addEventListener("hashchange", () => {
  if (isStranger) location.reload();
  else if (location.hash === "#settings") showPhones();
});
enter();
