// One board: large with all it has to tell, or small beside the large one.
"use strict";

/** Events that come together are answered by one question for the board's state. */
const GATHER_MS = 60;
/** How long a button waits for the second press. */
const SURE_MS = 4000;
/** How long after the press of "Board ready" an event is what that confirmed. */
const CONFIRM_MS = 1000;
/** Advice that is about a mistake. */
const MISTAKE = / (was made instead of|cannot be played here|does not fit)|^pieces are misplaced$/;
/** The longest text, in signs, that surely has room above the board. */
const ROOM = 90;

class Board {
  constructor(name) {
    this.name = name;
    this.state = null;
    this.turned = null;
    this.asked = null;
    this.readyAt = 0;
    this.confirmed = null;
    const article = $("board").content.firstElementChild.cloneNode(true);
    this.article = article;
    article.id = "board-" + name;
    article.setAttribute("aria-label", name);
    this.part = (selector) => article.querySelector(selector);
    this.part("h2").textContent = name;
    this.part(".enlarge").href = "#" + article.id;
    this.part(".enlarge").setAttribute("aria-label", t("enlarge", { board: name }));
    this.part(".moves").setAttribute("aria-label", t("moves-of", { board: name }));
    this.part(".menu summary").setAttribute("aria-label", t("menu", { board: name }));
    this.picture = new Picture(this.part(".picture"));
    this.buttons = new Map();
    this.part(".turn").addEventListener("click", () => {
      this.turned = !this.isTurned();
      this.closeMenu();
      this.show();
    });
    this.part(".menu").addEventListener("toggle", () => this.state && this.showButtons());
    this.part(".pgn").addEventListener("click", () => this.save());
  }

  isTurned() {
    return this.turned ?? this.state?.pairing?.hand === "black";
  }

  isLarge() {
    return this.article.parentElement === $("large");
  }

  /** Asks for the state, once for events that come together. */
  changed() {
    this.asked ??= setTimeout(async () => {
      this.asked = null;
      try {
        this.take(await ask("boards/" + encodeURIComponent(this.name)));
      } catch {
        // The stream says when the daemon or the board is gone.
      }
    }, GATHER_MS);
  }

  take(state) {
    this.state = isOver(state) ? { ...state, advice: "", make: null, guidance: [] } : state;
    skew = Date.parse(state.at) - Date.now();
    this.show();
    stayAwake();
  }

  isLinked() {
    return this.state.link === "up" || this.state.link === "unheard";
  }

  /** What the player has to do: heading, what to do, kind, and whether the heading is in the daemon's words. */
  task() {
    const { state } = this;
    if (!this.isLinked()) {
      const words = retold(state.why, state);
      return { head: capital(t("link." + state.link)), sub: capital(words ?? state.why ?? "").replace("\n", ". "), kind: "bad", english: words === null };
    }
    if (state.advice) return this.advised();
    if (state.guidance.length) return { head: t("set-up"), sub: t("set-up-how"), kind: "make" };
    if (state.ending) {
      const program = state.holders.length && !state.pairing?.can.includes("new-game") && !this.isOnLichess();
      return { head: t("over"), sub: program ? t("again-program") : "" };
    }
    if (state.holders.length && !state.awaiting) return { head: t("wait") };
    if (state.holders.length) return this.toMove();
    return { head: t("free"), sub: t(state.ply && !state.sure ? "guess" : "start") };
  }

  /** Whether its game is, or was, one of the account on Lichess. */
  isOnLichess() {
    return Boolean(account && this.state.pairing?.site?.startsWith(account.url + "/"));
  }

  toMove() {
    const { turn, pairing } = this.state;
    const head = pairing?.hand === turn ? t("your-move") : t("to-move", { color: t(turn) });
    return { head, sub: t("on-the-board"), kind: "make" };
  }

  advised() {
    const { state } = this;
    if (/^(White|Black) to move on the board$/.test(state.advice)) return this.toMove();
    const words = retold(state.advice, state);
    return { ...headed(words ?? state.advice), kind: MISTAKE.test(state.advice) ? "bad" : "make", quoted: words === null };
  }

  show() {
    const { state, part } = this;
    if (!state) return;
    const paired = state.pairing;
    const link = part(".link");
    write(link, state.battery === null || !this.isLinked() ? t("link." + state.link) : t("battery", { percent: state.battery }));
    link.classList.toggle("bad", !this.isLinked());
    link.title = [state.id, state.transport].filter(Boolean).join(", ");
    const { head, sub = "", kind = "", quoted, english } = this.task();
    const heading = part(".do");
    quote(heading, head, quoted);
    heading.classList.toggle("long", head.length > 44);
    part(".state").dataset.kind = kind;
    quote(part(".sub"), sub, quoted || english);
    // What may have no room above is whole below.
    const whole = state.advice && head.length + sub.length > ROOM ? state.advice : "";
    tell(part(".why"), whole || (state.why !== state.advice && state.why) || "", state);
    this.showPicture();
    const { start, first } = begun(state);
    const moves = { san: state.san, took: state.took, clocks: paired?.clock_times || [], start, first };
    list(part(".moves"), moves, state.san.length - 1);
    this.showPlayers();
    part(".list").replaceChildren(...state.guidance.map((action) => element("li", "", carried(action))));
    this.showEnd();
    const offer = paired?.offer ? t("opponent." + paired.offer) : "";
    const notice = worded(paired?.notice, state);
    quote(part(".notice"), [notice.words, offer].filter(Boolean).join(". "), notice.quoted);
    const waits = state.waiting.length ? t("waiting", { names: calledAll(state.waiting) }) : "";
    write(part(".with"), state.holders.length ? t("with", { names: calledAll(state.holders) }) + waits : "");
    part(".chat").replaceChildren(...(paired?.chat || []).map((text) => element("li", "", text)));
    this.showButtons();
  }

  showPicture() {
    const { state } = this;
    const marks = { last: [], check: [], make: [], wrong: [], awaited: [], arrows: [] };
    if (state.last) marks.last = ends(state.last.uci);
    for (const { from, to } of state.guidance) {
      if (from) marks.wrong.push(from);
      if (to) marks.awaited.push(to);
      if (from && to) marks.arrows.push([from, to, "mend"]);
    }
    if (state.make && !state.guidance.length) {
      marks.make = ends(state.make);
      marks.arrows.push([...ends(state.make), "make"]);
    }
    if (/[+#]$/.test(state.last?.san)) {
      const king = state.turn === "white" ? "K" : "k";
      marks.check = [...pieces(state.fen)].filter(([, sign]) => sign === king).map(([square]) => square);
    }
    const move = state.last ? state.last.number + (state.last.color === "white" ? ". " : "… ") + state.last.san : "";
    const label = t(move ? "position-after" : "position", { board: this.name, move, color: t(state.turn) });
    this.picture.show(state.fen, marks, this.isTurned(), label);
  }

  /** The players' places with their colors, the upper one first. */
  places() {
    const [other, mine] = this.isTurned() ? ["white", "black"] : ["black", "white"];
    return [[".other", other], [".mine", mine]];
  }

  showPlayers() {
    const { pairing, turn, ending } = this.state;
    for (const [place, color] of this.places()) {
      const player = pairing?.[color];
      const title = player?.title ? player.title + " " : "";
      write(this.part(place + " .name"), player ? title + called(player.name) : t(color));
      const judged = isOn("evaluation") && pairing?.evaluation && pairing.hand && pairing.hand !== color;
      write(this.part(place + " .rating"), judged ? worth(pairing.evaluation) : player?.rating ? String(player.rating) : "");
      this.part(place).dataset.color = color;
      this.part(place).classList.toggle("turn-now", turn === color && !ending);
    }
    this.tick();
  }

  /** The clocks, as they are now. */
  tick() {
    const clocks = this.state?.pairing?.clocks;
    for (const [place, color] of this.places()) {
      const into = this.part(place + " .clock");
      const runs = clocks?.runs === color;
      const gone = runs ? (Date.now() + skew - Date.parse(clocks.at)) / 1000 : 0;
      write(into, clocks ? clock(clocks[color] - Math.max(0, gone)) : "");
      into.classList.toggle("runs", runs);
    }
  }

  /** The card of a game that is over. */
  showEnd() {
    const { state, part } = this;
    part(".end").hidden = !state.ending;
    if (!state.ending) return;
    write(part(".result"), [result(state), score(state)].filter(Boolean).join(" "));
    write(part(".how"), cause(state));
    part(".keep").hidden = !state.san.length;
    part(".lichess").href = analysis(state);
  }

  /** Saves the game on the player's machine. */
  save() {
    const link = element("a");
    link.href = URL.createObjectURL(new Blob([pgn(this.state)], { type: "application/x-chess-pgn" }));
    link.download = `${this.name} ${this.state.at.slice(0, 10)}.pgn`;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  /** The buttons that can be used. What is needed `now` is under the board, the others are in the menu; `twice` asks again. */
  usable() {
    const { state } = this;
    const paired = state.pairing;
    const can = new Set(paired?.can || []);
    const found = [];
    const add = (asks, words, more) => found.push({ asks, words, label: words, body: {}, ...more });
    const held = state.holders.length > 0;
    if (held && state.awaiting && this.mayPromote()) {
      for (const piece of "qrbn") {
        add("promotion", t("promote", { piece: pieceName(piece) }), { now: true, label: capital(pieceName(piece)), body: { piece } });
      }
    }
    const stands = state.make || state.guidance.length || state.advice.includes("Board ready") || !held;
    if (held || can.has("ready")) add("ready", t("ready"), { now: Boolean(stands) });
    if (can.has("new-game")) {
      const over = Boolean(state.ending);
      add("new-game", t(over ? "again" : "new-game"), { now: over, twice: !over && state.ply > 1 });
    }
    if (state.ending && this.isOnLichess()) add("again", t("again"), { now: true });
    for (const asks of ["draw", "take-back"]) {
      const offered = paired?.offer === asks;
      // Two people have agreed before one of them presses: it ends their game.
      const twice = asks === "draw" && !paired?.hand;
      const words = twice ? "draw-agreed" : asks;
      if (can.has(asks)) add(asks, t(offered ? asks + "-accept" : words), { now: offered, twice });
    }
    if (can.has("decline")) add("decline", t("decline"), { now: Boolean(paired.offer) });
    for (const asks of ["resign", "abort", "berserk"]) if (can.has(asks)) add(asks, t(asks), { twice: true });
    if (held) {
      const [name] = state.waiting;
      add("release", name ? t("give", { name: called(name) }) : t("release"), { twice: true });
    }
    return found;
  }

  /** Whether a pawn of the side to move is one step from the last rank. */
  mayPromote() {
    const [rank, pawn] = this.state.turn === "white" ? ["7", "P"] : ["2", "p"];
    return [...pieces(this.state.fen)].some(([square, sign]) => sign === pawn && square[1] === rank);
  }

  /** While the menu is open nothing moves away below the finger. */
  showButtons() {
    if (this.part(".menu").open) return;
    const usable = this.usable().map((one) => ({ key: one.asks + (one.body.piece || ""), ...one }));
    for (const [key, button] of this.buttons) {
      if (usable.some((one) => one.key === key)) continue;
      button.remove();
      this.buttons.delete(key);
    }
    const places = [[".buttons", usable.filter(({ now }) => now)], [".menu .choices", usable.filter(({ now }) => !now)]];
    for (const [place, ones] of places) {
      ones.forEach((one, index) => this.place(this.part(place), index, one));
    }
    tell(this.part(".reason"), usable.length && !settings.may_control ? settings.why_not : "");
  }

  place(into, index, { key, now, ...one }) {
    let button = this.buttons.get(key);
    if (!button) {
      button = element("button");
      button.type = "button";
      button.dataset.button = key;
      button.addEventListener("click", () => this.press(button));
      this.buttons.set(key, button);
    }
    Object.assign(button, one);
    button.setAttribute("aria-label", one.words);
    if (!button.classList.contains("sure")) write(button, one.label);
    button.disabled = !settings.may_control;
    if (into.children[index] !== button) into.insertBefore(button, into.children[index] || null);
  }

  async press(button) {
    if (button.asks === "again") {
      // An opponent on Lichess is chosen each time.
      location.hash = "lichess";
      return;
    }
    if (button.twice && !button.classList.contains("sure")) {
      button.classList.add("sure");
      button.textContent = t("press-again", { words: button.words });
      button.setAttribute("aria-label", button.textContent);
      setTimeout(() => this.calm(button), SURE_MS);
      return;
    }
    this.calm(button);
    this.closeMenu();
    const answer = this.part(".answer");
    this.readyAt = button.asks === "ready" ? Date.now() : 0;
    this.confirmed = null;
    try {
      await ask(`boards/${encodeURIComponent(this.name)}/${button.asks}`, button.body);
      // What it confirmed may be told before this answer, or after it.
      quote(answer, this.confirmed ? t("done", { what: this.confirmed }) : t("did"));
    } catch (error) {
      tell(answer, error.message, this.state);
    }
    this.changed();
  }

  /** Says what "Board ready" has confirmed. */
  confirms(what) {
    if (Date.now() - this.readyAt > CONFIRM_MS) return;
    this.confirmed = retold(what, this.state) ?? what;
    quote(this.part(".answer"), t("done", { what: this.confirmed }));
  }

  calm(button) {
    button.classList.remove("sure");
    button.textContent = button.label;
    button.setAttribute("aria-label", button.words);
  }

  closeMenu() {
    const menu = this.part(".menu");
    const hadFocus = menu.contains(document.activeElement);
    menu.open = false;
    if (hadFocus) menu.querySelector("summary").focus();
  }
}

/** Whether a game is over and no other one is being set up: its moves do not have to be made on the board any more. That which
    ended it by the rules still has to. */
function isOver({ ending, ended_by: by, game, target }) {
  return Boolean(ending) && by !== "rules" && (target ?? game).startsWith(game);
}

/** A heading, which is the first line, sentence or its beginning, and the rest. */
function headed(text) {
  const [, head, sub = ""] = /^(.+?)\n(.+)$/s.exec(text) || /^(.{12,60}?)(?:[.:;] (.+))?$/s.exec(text) || [null, text];
  return { head: capital(head), sub: capital(sub) };
}

/** What the hand has to carry, in words. */
function carried({ piece, from, to }) {
  const what = piece ? t(piece < "a" ? "white-piece" : "black-piece", { piece: pieceName(piece) }) : t("any-piece");
  return t(from && to ? "carry" : to ? "put" : "take-off", { piece: what, from, to });
}

/** The result as it is printed. */
function score({ outcome }) {
  return outcome === "*" ? "" : outcome.replace("-", "–").replaceAll("1/2", "½");
}

/** Who has won, in words: the player, if it is known which side that is, else a name or a color. */
function result({ outcome, pairing }) {
  if (outcome === "1/2-1/2") return t("drawn");
  const winner = { "1-0": "white", "0-1": "black" }[outcome];
  if (!winner) return t("no-result");
  if (pairing?.hand) return t(pairing.hand === winner ? "won.you" : "lost.you");
  return t("won", { who: called(pairing?.[winner]?.name || t(winner)) });
}

/** By what a game is over. Where a player's side is known, one who left is not just a player. */
function cause({ ending, outcome, pairing }) {
  const won = { "1-0": "white", "0-1": "black" }[outcome];
  const side = pairing?.hand && won && ending === "abandoned" ? (pairing.hand === won ? ".they" : ".you") : "";
  return t("end." + ending + side);
}
