// Logging in to Lichess, and out: a part of the settings.
"use strict";

const login = { part: element("section"), title: element("h3", "", "Lichess"), state: element("p"), bar: element("p", "bar"), said: element("p", "answer") };

/** Shows whether someone is logged in. */
async function showLogin() {
  let account = null;
  try {
    await showSettings();
    if (settings.lichess) account = await ask("lichess");
  } catch {
    // The line at the top says that the connection is lost.
  }
  const problem = worded(account?.problem);
  const user = account?.user || t("an-account");
  // Whose account it is comes after the connection.
  if (account && !account.user && !account.problem) setTimeout(lookAgain, WAITS_MS);
  const plays = account && t("plays-on", { user, board: account.board });
  quote(login.state, plays ? [plays, problem.words].filter(Boolean).join(". ") : t("nobody-in"), problem.quoted);
  const key = JSON.stringify([account?.user, account?.problem]);
  // Buttons that stay keep the focus.
  if (login.bar.dataset.key !== key) {
    const buttons = [];
    if (!account || account.problem) buttons.push(loginButton(t("log-in"), logIn));
    if (account) buttons.push(loginButton(t("log-out", { user }), async () => (await ask("lichess/logout", {})).done));
    login.bar.replaceChildren(...buttons);
    login.bar.dataset.key = key;
  }
  for (const button of [...login.bar.children, login.finish]) {
    button.disabled = !settings.may_control;
    button.title = button.disabled ? worded(settings.why_not).words : "";
  }
}

/** A choice among these options, or the boards. */
function lichessField(key, words, options) {
  const select = options ? selectField(options) : boardsField([]);
  return keeps("lichess_" + key, words, select, ({ lichess_fixed }) => lichess_fixed?.includes(key), login.said);
}

/** Shows where games are played, if there are several boards, and what is done with what opponents ask. */
function showChosen() {
  login.choices[0].hidden = boards.size < 2;
  login.chosen.hidden = !settings.lichess;
}

/** A button; what it does may answer in words. */
function loginButton(text, does) {
  const button = element("button", "", text);
  button.type = "button";
  button.addEventListener("click", async () => {
    button.disabled = true;
    let words = "";
    try {
      words = await does();
    } catch (error) {
      words = error.message;
    }
    tell(login.said, words);
    showLogin();
  });
  return button;
}

/** Goes to Lichess, which sends the browser back. */
async function logIn() {
  location.href = (await ask("lichess/login", {})).url;
}

function pasteLogin() {
  const more = element("details");
  const label = element("label", "", t("paste") + " ");
  const address = element("input");
  address.type = "text";
  address.autocomplete = "off";
  label.append(address);
  login.finish = loginButton(t("finish"), async () => {
    const { done } = await ask("lichess/login", { address: address.value.trim() });
    address.value = "";
    return done;
  });
  more.append(element("summary", "", t("not-back")), label, login.finish);
  return more;
}

KEPT.push(showChosen);
login.said.setAttribute("role", "status");
login.choices = [
  lichessField("board", t("played-on")),
  lichessField("accept", t("accepts"), ["ask", "all", "none"].map((one) => [one, t("accepts." + one)])),
  lichessField("take_backs", t("take-backs"), ["ask", "yes", "no"].map((one) => [one, t("take-backs." + one)])),
];
login.chosen = element("div", "switches");
login.chosen.append(...login.choices);
login.part.append(login.title, login.state, login.bar, login.chosen, login.said, pasteLogin());
$("about").before(login.part);

/** The account may have changed in another window. */
function lookAgain() {
  if (location.hash === "#settings") showLogin();
}
window.addEventListener("focus", lookAgain);
