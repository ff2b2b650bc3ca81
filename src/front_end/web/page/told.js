// What the daemon says in words of its own, and a player sees most: the page says it in its language. The words are in words.js, as
// "told.KEY"; what has no form here is shown as it is, in English.
"use strict";

/** Forms of sentences, and their keys. Named groups are values of the words; what is under `move` and `made` is a move. */
const FORMS = [
  [/^no link to the board: (?<rest>.+)$/s, "no-link"],
  [/^there is no (?<port>\S+): is the cable plugged in, .+$/s, "no-port"],
  [/^(?<board>.+) was not found: is it switched on, in reach, and not connected to an app\?.*$/s, "not-found"],
  [/^(?<board>.+) cannot be connected \(.+\): switch it off and on, and close other apps that use it$/s, "not-connected"],
  [/^Bluetooth is off \(.+$/s, "bluetooth-off"],
  [/^no .+ is plugged in: is it switched on, and does its cable carry data\? Some only charge$/s, "not-plugged"],
  [/^(?<port>\S+) is in use by another program(?:, (?<program>.+))?: close that first$/s, "in-use"],
  [/^the board does not answer: is it switched on and connected.*$/s, "mute"],
  [/^nothing heard yet: move a piece; .+$/s, "unheard"],
  [/^the data cannot be read: .+$/s, "garbled"],
  [/^the connected board talks like a (?<kind>[\w-]+): .+$/s, "stranger"],
  [/^take (?<move>\S+) back on the board: the king first, then the rook$/, "castling-back"],
  [/^(?<made>\S+) was taken back on the board, but it stands in the program's game: .+$/s, "stands-in-program"],
  [/^(?:.+ does not fit: )?it is not known how the pieces stand\. .+$/s, "unplaced"],
  [/^set up the position, then press 'Board ready' or just move .*$/s, "set-up"],
  [/^set up the position by hand, .+$/s, "set-up-by-hand"],
  [/^new game, by two players: White makes the first move$/, "new-two"],
  [/^new game: you play White, and make the first move$/, "new-white"],
  [/^new game: you play Black; the engine begins when the pieces stand at the start$/, "new-black"],
  [/^the board is with (?<names>.+): a game begins when it is free and the pieces stand at the start$/, "occupied"],
  [/^the board is with (?<names>.+): this game continues when it is free, .+$/, "interrupted"],
  [/^the game was abandoned because the board was released: .+$/, "put-out"],
  [/^(?<made>\S+) was made, but it is the engine's turn: please put it back$/, "engines-turn"],
  [/^a move was taken back$/, "one-back"],
  [/^(?<count>\d+) moves were taken back$/, "more-back"],
  [/^the game is over: .+\. Put the pieces on their starting squares for the next one$/s, "over"],
  [/^(?<board>\S+) is away: the game continues when it is back$/, "away"],
  [/^(?<board>\S+) is away: your move waits for it$/, "waits"],
  [/^(?<board>\S+) is back$/, "back"],
  [/^a (?<title>.+), by its name \((?<at>.+)\)$/s, "by-name"],
  [/^a general adapter: .+ \((?<at>.+)\)$/s, "adapter"],
  [/^nothing answered at (?<port>.+): is the board switched on\? .+$/s, "unanswered"],
  [/^this board is no longer there, .+$/, "gone"],
  [/^it answers: (?<title>.+)\. It has no lamps to try, and no clock: .+$/s, "no-lamps"],
  [/^the clock of .+ has shown a word: here$/s, "word"],
  [/^(?<board>\S+) has an opponent already: stop that first$/, "taken"],
  [/^a (?<title>.+) has no lamps to try, and says nothing before a move: .+$/s, "no-lamps-yet"],
];

/** A sentence of the daemon in the page's language. `null`: it has none there. `state` is that of the board whose moves are in it. */
function retold(text, state) {
  for (const [form, key] of FORMS) {
    const found = form.exec(text || "");
    if (!found) continue;
    const values = { ...found.groups };
    for (const name of ["move", "made"]) if (values[name] && state) values[name] = moveInWords(values[name], state.fen, state.last);
    if (values.rest) values.rest = retold(values.rest, state) ?? values.rest;
    return capital(t("told." + key, values));
  }
  return null;
}

/** Writes what the daemon says: in the page's language, or as it is. */
function tell(into, text, state) {
  const words = retold(text, state);
  return quote(into, words ?? capital(text), words === null);
}
