// The account on Lichess: challenges that wait, the search for an opponent, and what can be asked. Logging in is in login.js.
"use strict";

/** How often a challenge that waits is looked at: no event says that it was withdrawn, or answered on another page. */
const WAITS_MS = 3000;
/** The usual clocks: minutes, and seconds for each move. */
const TIMES = ["10+5", "15+10", "30+0", "30+20"];
/** The most that Lichess takes of each. */
const MOST = 180;

/** The account, as it was when it was looked at; null without one. */
let account = null;
const lichess = { timer: null, shown: "", told: [] };

/** Looks at the account, once for events that come together. */
function lichessChanged(wait = GATHER_MS) {
  clearTimeout(lichess.timer);
  lichess.timer = setTimeout(showLichess, wait);
}

/** Shows what has changed at the account. */
async function showLichess() {
  clearTimeout(lichess.timer);
  let found = null;
  try {
    if (settings.lichess) found = await ask("lichess");
  } catch {
    // Someone has logged out, or the line at the top says that the connection is lost.
  }
  account = found;
  const waits = account?.challenges.filter(({ own }) => !own) || [];
  if (waits.length && !document.hidden) lichessChanged(WAITS_MS);
  const text = JSON.stringify([account, settings.may_control]);
  if (lichess.shown === text) return;
  lichess.shown = text;
  const count = [element("span", "", waits.length), element("span", "unseen", t("challenges", { count: waits.length }))];
  count[0].ariaHidden = "true";
  $("challenges").replaceChildren(...(waits.length ? count : []));
  for (const one of waits) if (!lichess.told.includes(one.id)) say(challengeWords(one));
  lichess.told = waits.map(({ id }) => id);
  $("at-lichess").replaceChildren(...lichessItems());
  $("on-lichess").hidden = !account;
  for (const button of $("on-lichess").querySelectorAll("button")) button.disabled = !settings.may_control;
  tell($("lichess-last"), account?.last);
  for (const board of boards.values()) board.show();
}

/** What has begun, or waits for an answer. */
function lichessItems() {
  if (!account) return [];
  const withdraw = () => deskButton(t("withdraw"), () => ask("lichess/withdraw", {}));
  const answers = ({ id, unfit }) => [
    ...(unfit ? [] : [deskButton(t("accept"), () => ask("lichess/accept", { id }), "main")]),
    deskButton(t("decline"), () => ask("lichess/decline", { id })),
  ];
  const elsewhere = account.games.filter(({ unfit }) => unfit);
  return [
    ...account.challenges.map((one) => lichessItem(challengeWords(one), one.unfit, one.own ? [withdraw()] : answers(one))),
    ...(account.seek ? [lichessItem(t("seeks", { time: account.seek }), "", [withdraw()])] : []),
    ...elsewhere.map(({ opponent, unfit }) => lichessItem(t("not-here", { opponent }), unfit, [])),
  ];
}

function lichessItem(words, why, buttons) {
  const item = element("li");
  const bar = element("p", "fields");
  bar.append(...buttons);
  item.append(element("strong", "", words), ...(why ? [tell(element("p", "about"), why)] : []), ...(buttons.length ? [bar] : []));
  return item;
}

function challengeWords({ own, player, rating, time, rated }) {
  const who = rating ? `${player} (${rating})` : player;
  return t(own ? "you-challenge" : "challenges-you", { player: who, time: retold(time) ?? time, rated: t(rated ? "rated" : "casual") });
}

function numberField(words, value, step) {
  const [label, input] = nameField(words, value);
  Object.assign(input, { type: "number", min: 0, max: MOST, step });
  return [label, input];
}

/** What can be asked of Lichess. It is made once: what was chosen is there for the next game. */
function lichessForm() {
  const [wayLabel, way] = choice(t("play"), [["seek", t("anybody")], ["challenge", t("somebody")], ["computer", t("computer")]]);
  const [userLabel, user] = nameField(t("their-name"), "");
  const [levelLabel, level] = choice(t("level"), [1, 2, 3, 4, 5, 6, 7, 8].map((one) => [one, one]));
  const [timeLabel, time] = choice(t("time"), [...TIMES.map((one) => [one, one]), ["", t("own-clock")]]);
  const [minutesLabel, minutes] = numberField(t("minutes"), 15, "any");
  const [incrementLabel, increment] = numberField(t("increment"), 10, 1);
  const [colorLabel, color] = choice(t("you-play"), [["random", t("either")], ["white", t("white")], ["black", t("black")]]);
  const ratedLabel = element("label");
  const rated = element("input");
  rated.type = "checkbox";
  rated.setAttribute("role", "switch");
  ratedLabel.append(element("span", "", capital(t("rated"))), rated);
  const fit = () => {
    userLabel.hidden = way.value !== "challenge";
    levelLabel.hidden = way.value !== "computer";
    ratedLabel.hidden = way.value === "computer";
    minutesLabel.hidden = incrementLabel.hidden = time.value !== "";
  };
  for (const one of [way, time]) one.addEventListener("change", fit);
  fit();
  const more = {
    seek: () => ({ rated: rated.checked }), challenge: () => ({ user: user.value.trim(), rated: rated.checked }), computer: () => ({ level: Number(level.value) }),
  };
  const clock = () => time.value || `${Number(minutes.value)}+${Number(increment.value)}`;
  const asks = () => ask("lichess/" + way.value, { time: clock(), color: color.value, ...more[way.value]() });
  $("on-lichess").append(wayLabel, userLabel, levelLabel, timeLabel, minutesLabel, incrementLabel, colorLabel, ratedLabel, deskButton(t("play"), asks, "main"));
}

lichessForm();
