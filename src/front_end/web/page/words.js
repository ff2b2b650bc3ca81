// The words of the page, by language. For a further language copy a table, translate its right side, and add its name to LANGUAGES.
// What the daemon says in words of its own is in told_sentences.js.
"use strict";

const LANGUAGES = { en: "English", de: "Deutsch" };

const WORDS = {
  en: {
    "skip": "To the boards", "parts": "Parts of this page",
    "boards": "Boards", "wall": "Wall", "games": "Games", "settings": "Settings",
    "connecting": "connecting…", "connected": "connected", "lost": "connection lost, trying again…",
    "no-board": "There is no board yet", "no-boards": "Plug it in: most come by themselves.",
    "desk": "Play", "add-board": "Add a board", "play": "Play", "stop": "Stop", "add": "Add", "rename": "Rename", "remove": "Remove", "copy": "Copy",
    "none-found": "No new board is in reach. Plug its cable in, or switch it on and close the maker's app: it appears here within ten seconds.",
    "in-program": "In a chess program", "program-how": "Name this as the engine, on this machine or another one of your network:",
    "programs-off": "Chess programs cannot connect: the configuration has listen = \"off\" under [uci], or another program has the port.",
    "against": "Against", "two-people": "two people at the board", "strength": "Strength", "full": "full", "you-play": "You play", "in-turns": "in turns",
    "thinks": "It thinks", "seconds": "{seconds} s", "its-name": "Name", "by-kind": "after its kind", "its-kind": "Kind", "ask-it": "ask the board",
    "other-name": "Name", "name-remove": "Rename or remove", "added-it": "Done: {board}", "wait-desk": "One moment…",
    "try": "Try its lamps", "trying": "Look at the board…", "lamps-ran": "Its lamps ran from one corner to the other. Is it this one? Add it.",
    "key": "Developer key", "key-set": "Set the key",
    "key-how": "DGT issues it: 12 digits, each of 0 to 9 or A to F. Without it the board stays locked; you can also set it later.",
    "copied": "Copied.", "how-on": "How is my board switched on?", "choose": "choose",
    "picture.board": "A board and a computer", "picture.squares": "", "picture.buttons": "a button on each square", "picture.lamps": "lamps on the squares", "picture.edges": "lamps along two edges",
    "picture.sides": "room for pieces on both sides", "picture.clock": "a clock beside the board", "picture.key": "a key", "picture.on": "the board is switched on", "picture.cable": "a USB cable from one to the other",
    "picture.adapter": "a cable to an adapter, and that on USB", "picture.arduino": "an Arduino on USB", "picture.air": "radio from one to the other", "picture.phone": "a phone that is crossed out",
    "on.cable": "Plug its USB cable into this machine, then switch it on.",
    "on.air": "Switch it on beside this machine, and close the maker's app on every phone: the board talks to one at a time.",
    "on.novag-ucb": "Plug it into a serial adapter on USB, by a cable with all six wires. Choose its kind here before you add it: it answers no question.",
    "on.miko-neo": "Switch it on beside this machine, and close the maker's app on every phone. When its motor runs, keep your hands off.",
    "on.swpp": "Plug its Arduino into USB of this machine, or switch its Bluetooth on.",
    "on.chessnut": "Switch it on, and close the maker's app on every phone. Or plug it into USB with a cable that carries data: some only charge.",
    "on.dgt": "Plug its USB cable into this machine: that feeds it. One with Bluetooth has to be paired with this machine once.",
    "on.dgt-pegasus": "Switch it on, and close the maker's app on every phone. It shows its squares only with a developer key of DGT, which you enter when you add it.",
    "copy-by-hand": "It is selected: copy it.", "anybody": "anybody", "somebody": "a player", "computer": "the computer", "their-name": "Their name",
    "level": "Level", "time": "Clock", "either": "either", "withdraw": "Withdraw", "accept": "Accept",
    "own-clock": "another", "minutes": "Minutes", "increment": "Seconds for each move", "rated": "rated", "casual": "casual",
    "challenges": "challenges: {count}", "challenges-you": "{player} challenges you: {time}, {rated}", "you-challenge": "You challenge {player}: {time}, {rated}",
    "seeks": "Looking for an opponent: {time}", "not-here": "The game with {opponent} is not played on the board", "lichess-login": "Log in, or out, in Settings",
    "an-account": "An account on Lichess", "plays-on": "{user} plays on {board}", "nobody-in": "No one is logged in.", "log-in": "Log in to Lichess",
    "played-on": "Games are played on", "accepts": "Challenges", "accepts.ask": "ask me", "accepts.all": "accept what the board can play", "accepts.none": "leave alone",
    "take-backs": "When the opponent wants to take back", "take-backs.ask": "ask me", "take-backs.yes": "allow it", "take-backs.no": "decline",
    "log-out": "Log out ({user})", "finish": "Finish", "not-back": "The page did not come back?", "back": "Back to the page",
    "paste": "Copy the address of the page that could not be opened:",
    "left-out": "What the configuration names and cannot be run",
    "other-boards": "Other boards", "enlarge": "Enlarge {board}",
    "all-boards": "All boards", "tiles": "All boards: arrows go from one to another, Enter enlarges", "close": "Close",
    "white": "White", "black": "Black", "both": "White: {white}. Black: {black}.",
    "piece.p": "pawn", "piece.n": "knight", "piece.b": "bishop", "piece.r": "rook", "piece.q": "queen", "piece.k": "king",
    "castles-short": "castles short", "castles-long": "castles long", "takes": " takes ", "check": ", check", "checkmate": ", checkmate",
    "goes": "{piece} {from} to {to}", "captures": "{piece} {from} takes {to}", "promoted": "{move}, {piece}",
    "link.up": "connected", "link.asking": "connecting…", "link.unheard": "not heard yet", "link.silent": "does not answer",
    "link.stranger": "another kind of board", "link.down": "not connected", "battery": "battery {percent} %",
    "position": "Position on {board}, {color} to move.", "position-after": "Position on {board} after {move}, {color} to move.",
    "white-piece": "the white {piece}", "black-piece": "the black {piece}", "any-piece": "the piece",
    "carry": "move {piece} from {from} to {to}", "put": "put {piece} on {to}", "take-off": "take {piece} off {from}",
    "to-move": "{color} to move", "your-move": "Your move", "on-the-board": "Make the move on the board.",
    "set-up": "Put the pieces in place", "set-up-how": "The list says where. Then press Board ready.",
    "over": "The game is over", "wait": "Wait for the opponent's move", "free": "Free", "start": "Make a move, or press Play to choose an opponent.",
    "moves-of": "Moves on {board}", "put-right": "What to put right", "chat": "Chat", "menu": "More for {board}", "turn": "Turn the board round",
    "opponent.draw": "The opponent offers a draw", "opponent.take-back": "The opponent asks to take back",
    "guess": "Read as a game from the start: it is not certain that the pieces stand like this.",
    "with": "Plays here: {names}", "and": " and ", "waiting": "; waiting: {names}",
    "client.link": "the board {name}", "client.engine": "{name}", "client.app": "the WhitePawn app{name}", "client.livechess": "LiveChess",
    "client.two": "two players", "client.hand": "Player at {name}", "client.program": "a chess program at {name}",
    "ready": "Board ready", "new-game": "New game", "again": "Again", "draw": "Offer a draw", "draw-agreed": "Draw agreed", "draw-accept": "Accept the draw",
    "take-back": "Take back", "take-back-accept": "Let them take back", "decline": "Decline", "resign": "Resign", "abort": "Abort the game",
    "berserk": "Berserk: half the time", "promote": "Promote to a {piece}", "release": "Release the board", "give": "Give the board to {name}",
    "press-again": "{words}: press again", "done": "Done: {what}", "did": "Done.",
    "won": "{who} won", "won.you": "You won", "lost.you": "You lost", "drawn": "Draw", "no-result": "Game over",
    "end.checkmate": "by checkmate", "end.stalemate": "by stalemate", "end.insufficient-material": "too few pieces left to win",
    "end.repetition": "the position was repeated", "end.fifty-moves": "by the 50-move rule", "end.variant": "by a rule of the variant",
    "end.resignation": "by resignation", "end.agreement": "by agreement", "end.time": "time ran out", "end.abandoned": "a player left", "end.abandoned.they": "the opponent left", "end.abandoned.you": "you left",
    "end.aborted": "the game was aborted", "end.no-start": "the first move was not made", "end.cheat": "the server ended it", "end.unknown": "",
    "pgn": "Save PGN", "lichess": "Lichess analysis",
    "again-program": "For another game, start it in your chess program.",
    "said-new-game": "new game", "said-took-back": "{move} taken back",
    "replay": "Replay", "replay-of": "Replay {game}", "download": "Download {file}", "older": "Older games", "no-games": "No game has been kept yet.",
    "count": "{count} moves", "count-one": "1 move", "to-start": "to the start", "one-back": "one move back", "one-on": "one move on", "to-end": "to the end",
    "keys": "Keys: ← → one move, Home and End.", "moves-replayed": "Moves of the replayed game",
    "replay-start": "Position at the start.", "replay-after": "Position after {move}.", "last-move": "last move {from} to {to}",
    "language": "Language", "speech": "Speak the moves", "evaluation": "Show what an engine makes of its game", "sounds": "Sounds", "about": "About this BoardBridge",
    "programs": "Chess programs of the network may connect", "fixed": "{words} (set in the configuration)",
    "no-engine": "To play against the computer, install a chess engine on BoardBridge's machine:",
    "name-of-white": "Name of White", "name-of-black": "Name of Black",
    "who-fixed": "Who plays here is set in the configuration.", "board-fixed": "This board is set in the configuration, and is renamed and removed there.",
    "elsewhere": "These are set in the configuration of BoardBridge.",
    "version": "Version", "control": "Who may press buttons", "control.local": "this machine only", "control.paired": "this machine and paired phones",
    "control.allowed": "all that may connect", "control.nobody": "no one", "kept": "Games are kept in", "not-kept": "not kept",
    "app": "WhitePawn app", "app-how": "Choose the board that the app plays on, for each way to it. In the app it is called BoardBridge.",
    "app.ble": "By Bluetooth", "app.rfcomm": "By Bluetooth Classic, once paired", "app.tcp": "By TCP, from this machine", "off": "off",
    "saved": "Saved games", "site": "Place", "player": "Player at the board", "every_move": "Save each move at once, for a viewer that follows the file", "board": "Board {board}",
    "pair": "Pair this phone with BoardBridge", "pair-line": "not paired yet", "pair-button": "Pair", "pair-code": "Code", "pair-name": "Name of this phone",
    "pair-how": "On BoardBridge's computer run “boardbridge pair”, or press “Pair a phone” in Settings on its page. Enter the six digits here.",
    "phones": "Paired phones", "phone-pair": "Pair a phone", "phone-this": "{name} (this one)", "phone-since": "since {day}",
    "phone-remove": "Remove", "phone-remove-named": "Remove {name}", "phone-removed": "{name} is removed.", "phone-paired": "{name} is paired.",
    "code-how": "On the phone scan the picture, or open {address}, and enter this code. It is for one phone, for two minutes.",
    "code-else": "If the phone does not find that page, open {addresses} there.", "or": " or ",
    "code-over": "The time of the code is over.", "code-picture": "QR code with the address and the code",
  },
  de: {
    "skip": "Zu den Brettern", "parts": "Teile dieser Seite",
    "boards": "Bretter", "wall": "Saal", "games": "Partien", "settings": "Einstellungen",
    "connecting": "verbinde …", "connected": "verbunden", "lost": "Verbindung verloren, neuer Versuch …",
    "no-board": "Es gibt noch kein Brett", "no-boards": "Stecken Sie es ein: Die meisten kommen von selbst.",
    "desk": "Spielen", "add-board": "Brett hinzufügen", "play": "Spielen", "stop": "Beenden", "add": "Hinzufügen", "rename": "Umbenennen", "remove": "Entfernen", "copy": "Kopieren",
    "none-found": "Kein neues Brett in Reichweite. Stecken Sie sein Kabel ein, oder schalten Sie es ein und schließen Sie die App des Herstellers: Es erscheint hier binnen zehn Sekunden.",
    "in-program": "In einem Schachprogramm", "program-how": "Nennen Sie dies als Engine, auf diesem oder einem anderen Rechner Ihres Netzes:",
    "programs-off": "Schachprogramme können sich nicht verbinden: In der Konfiguration steht listen = \"off\" unter [uci], oder ein anderes Programm hat den Anschluss.",
    "against": "Gegen", "two-people": "zwei Personen am Brett", "strength": "Stärke", "full": "voll", "you-play": "Sie spielen", "in-turns": "im Wechsel",
    "thinks": "Bedenkzeit je Zug", "seconds": "{seconds} s", "its-name": "Name", "by-kind": "nach seiner Art", "its-kind": "Art", "ask-it": "das Brett fragen",
    "other-name": "Name", "name-remove": "Umbenennen oder entfernen", "added-it": "Erledigt: {board}", "wait-desk": "Einen Moment …",
    "try": "Lampen probieren", "trying": "Schauen Sie auf das Brett …", "lamps-ran": "Seine Lampen liefen von einer Ecke zur anderen. Ist es dieses? Fügen Sie es hinzu.",
    "key": "Entwicklerschlüssel", "key-set": "Schlüssel setzen",
    "key-how": "DGT gibt ihn aus: 12 Stellen, jede 0 bis 9 oder A bis F. Ohne ihn bleibt das Brett gesperrt; Sie können ihn auch später setzen.",
    "copied": "Kopiert.", "how-on": "Wie schalte ich mein Brett ein?", "choose": "auswählen",
    "picture.board": "Ein Brett und ein Rechner", "picture.squares": "", "picture.buttons": "auf jedem Feld ein Knopf", "picture.lamps": "Lampen auf den Feldern", "picture.edges": "Lampen an zwei Rändern",
    "picture.sides": "Platz für Figuren auf beiden Seiten", "picture.clock": "neben dem Brett eine Uhr", "picture.key": "ein Schlüssel", "picture.on": "das Brett ist eingeschaltet", "picture.cable": "dazwischen ein USB-Kabel",
    "picture.adapter": "ein Kabel an einem Adapter, und der am USB", "picture.arduino": "ein Arduino am USB", "picture.air": "dazwischen Funk", "picture.phone": "ein durchgestrichenes Handy",
    "on.cable": "Stecken Sie sein USB-Kabel in diesen Rechner, dann schalten Sie es ein.",
    "on.air": "Schalten Sie es neben diesem Rechner ein, und schließen Sie die App des Herstellers auf jedem Handy: Das Brett spricht nur mit einem.",
    "on.novag-ucb": "Stecken Sie es mit einem Kabel, das alle sechs Adern hat, an einen seriellen Adapter am USB. Wählen Sie seine Art, bevor Sie es hinzufügen: Es beantwortet keine Frage.",
    "on.miko-neo": "Schalten Sie es neben diesem Rechner ein, und schließen Sie die App des Herstellers auf jedem Handy. Läuft der Motor, lassen Sie die Hände weg.",
    "on.swpp": "Stecken Sie den Arduino an den USB dieses Rechners, oder schalten Sie sein Bluetooth ein.",
    "on.chessnut": "Schalten Sie es ein, und schließen Sie die App des Herstellers auf jedem Handy. Oder stecken Sie es mit einem USB-Kabel an, das Daten überträgt: Manche laden nur.",
    "on.dgt": "Stecken Sie sein USB-Kabel in diesen Rechner: Das versorgt es. Eines mit Bluetooth wird einmal mit diesem Rechner gekoppelt.",
    "on.dgt-pegasus": "Schalten Sie es ein, und schließen Sie die App des Herstellers auf jedem Handy. Seine Felder zeigt es nur mit einem Entwicklerschlüssel von DGT, den Sie beim Hinzufügen eingeben.",
    "copy-by-hand": "Es ist markiert: Kopieren Sie es.", "anybody": "irgendjemand", "somebody": "ein Spieler", "computer": "der Computer", "their-name": "Name des Gegners",
    "level": "Stufe", "time": "Uhr", "either": "egal", "withdraw": "Zurückziehen", "accept": "Annehmen",
    "own-clock": "eine andere", "minutes": "Minuten", "increment": "Sekunden je Zug", "rated": "gewertet", "casual": "ungewertet",
    "challenges": "Herausforderungen: {count}", "challenges-you": "{player} fordert Sie heraus: {time}, {rated}", "you-challenge": "Sie fordern {player} heraus: {time}, {rated}",
    "seeks": "Ein Gegner wird gesucht: {time}", "not-here": "Die Partie mit {opponent} wird nicht auf dem Brett gespielt", "lichess-login": "An- und abmelden in den Einstellungen",
    "an-account": "Ein Konto bei Lichess", "plays-on": "{user} spielt auf {board}", "nobody-in": "Niemand ist angemeldet.", "log-in": "Bei Lichess anmelden",
    "played-on": "Gespielt wird auf", "accepts": "Herausforderungen", "accepts.ask": "mich fragen", "accepts.all": "annehmen, was das Brett spielen kann", "accepts.none": "unbeantwortet lassen",
    "take-backs": "Will der Gegner zurücknehmen", "take-backs.ask": "mich fragen", "take-backs.yes": "erlauben", "take-backs.no": "ablehnen",
    "log-out": "Abmelden ({user})", "finish": "Fertig", "not-back": "Die Seite kam nicht zurück?", "back": "Zurück zur Seite",
    "paste": "Adresse der Seite, die sich nicht öffnen ließ:",
    "left-out": "Was in der Konfiguration steht und nicht laufen kann",
    "other-boards": "Andere Bretter", "enlarge": "{board} groß zeigen",
    "all-boards": "Alle Bretter", "tiles": "Alle Bretter: Pfeiltasten wechseln, Eingabe vergrößert", "close": "Schließen",
    "white": "Weiß", "black": "Schwarz", "both": "Weiß: {white}. Schwarz: {black}.",
    "piece.p": "Bauer", "piece.n": "Springer", "piece.b": "Läufer", "piece.r": "Turm", "piece.q": "Dame", "piece.k": "König",
    "castles-short": "kurze Rochade", "castles-long": "lange Rochade", "takes": " schlägt ", "check": ", Schach", "checkmate": ", matt",
    "goes": "{piece} {from} nach {to}", "captures": "{piece} {from} schlägt {to}", "promoted": "{move}, {piece}",
    "link.up": "verbunden", "link.asking": "verbinde …", "link.unheard": "noch nichts gehört", "link.silent": "antwortet nicht",
    "link.stranger": "ein anderes Brett", "link.down": "nicht verbunden", "battery": "Akku {percent} %",
    "position": "Stellung auf {board}, {color} am Zug.", "position-after": "Stellung auf {board} nach {move}, {color} am Zug.",
    "white-piece": "{piece} (weiß)", "black-piece": "{piece} (schwarz)", "any-piece": "Figur",
    "carry": "{piece} von {from} nach {to}", "put": "{piece} auf {to} stellen", "take-off": "{piece} von {from} wegnehmen",
    "to-move": "{color} am Zug", "your-move": "Sie sind am Zug", "on-the-board": "Ziehen Sie auf dem Brett.",
    "set-up": "Figuren aufstellen", "set-up-how": "Die Liste sagt, wohin. Dann „Brett bereit“ drücken.",
    "over": "Die Partie ist zu Ende", "wait": "Der Gegner ist am Zug", "free": "Frei", "start": "Ziehen Sie, oder wählen Sie unter Spielen einen Gegner.",
    "moves-of": "Züge auf {board}", "put-right": "Was zu berichtigen ist", "chat": "Chat", "menu": "Mehr zu {board}", "turn": "Brett drehen",
    "opponent.draw": "Der Gegner bietet Remis an", "opponent.take-back": "Der Gegner möchte zurücknehmen",
    "guess": "Als Partie ab der Grundstellung gelesen: Ob die Figuren so stehen, ist nicht sicher.",
    "with": "Hier spielt: {names}", "and": " und ", "waiting": "; es warten: {names}",
    "client.link": "das Brett {name}", "client.engine": "{name}", "client.app": "die WhitePawn-App{name}", "client.livechess": "LiveChess",
    "client.two": "zwei Spieler", "client.hand": "Spieler an {name}", "client.program": "ein Schachprogramm auf {name}",
    "ready": "Brett bereit", "new-game": "Neue Partie", "again": "Noch einmal", "draw": "Remis anbieten", "draw-agreed": "Remis vereinbart", "draw-accept": "Remis annehmen",
    "take-back": "Zug zurücknehmen", "take-back-accept": "Zurücknehmen erlauben", "decline": "Ablehnen", "resign": "Aufgeben", "abort": "Partie abbrechen",
    "berserk": "Berserk: halbe Bedenkzeit", "promote": "Umwandeln: {piece}", "release": "Brett freigeben", "give": "Brett an {name} geben",
    "press-again": "{words}: noch einmal drücken", "done": "Erledigt: {what}", "did": "Erledigt.",
    "won": "{who} gewinnt", "won.you": "Sie haben gewonnen", "lost.you": "Sie haben verloren", "drawn": "Remis", "no-result": "Partie zu Ende",
    "end.checkmate": "durch Matt", "end.stalemate": "durch Patt", "end.insufficient-material": "zu wenig Figuren zum Gewinnen",
    "end.repetition": "durch Stellungswiederholung", "end.fifty-moves": "durch die 50-Züge-Regel", "end.variant": "nach einer Regel der Variante",
    "end.resignation": "durch Aufgabe", "end.agreement": "durch Vereinbarung", "end.time": "durch Zeitüberschreitung", "end.abandoned": "ein Spieler ist gegangen", "end.abandoned.they": "der Gegner ist gegangen", "end.abandoned.you": "Sie sind gegangen",
    "end.aborted": "die Partie wurde abgebrochen", "end.no-start": "der erste Zug blieb aus", "end.cheat": "vom Server beendet", "end.unknown": "",
    "pgn": "PGN speichern", "lichess": "Lichess-Analyse",
    "again-program": "Die nächste Partie beginnt in Ihrem Schachprogramm.",
    "said-new-game": "neue Partie", "said-took-back": "{move} zurückgenommen",
    "replay": "Nachspielen", "replay-of": "{game} nachspielen", "download": "{file} herunterladen", "older": "Ältere Partien", "no-games": "Noch keine Partie ist gespeichert.",
    "count": "{count} Züge", "count-one": "1 Zug", "to-start": "zum Anfang", "one-back": "einen Zug zurück", "one-on": "einen Zug weiter", "to-end": "zum Ende",
    "keys": "Tasten: ← → ein Zug, Pos1 und Ende.", "moves-replayed": "Züge der nachgespielten Partie",
    "replay-start": "Stellung am Anfang.", "replay-after": "Stellung nach {move}.", "last-move": "letzter Zug {from} nach {to}",
    "language": "Sprache", "speech": "Züge vorlesen", "evaluation": "Zeigen, wie ein Schachprogramm seine Partie bewertet", "sounds": "Töne", "about": "Über dieses BoardBridge",
    "programs": "Schachprogramme im Netz dürfen sich verbinden", "fixed": "{words} (steht in der Konfiguration)",
    "no-engine": "Um gegen den Computer zu spielen, installieren Sie auf dem Rechner von BoardBridge eine Engine:",
    "name-of-white": "Name von Weiß", "name-of-black": "Name von Schwarz",
    "who-fixed": "Wer hier spielt, steht in der Konfiguration.", "board-fixed": "Dieses Brett steht in der Konfiguration und wird dort umbenannt und entfernt.",
    "elsewhere": "Dies steht in der Konfiguration von BoardBridge.",
    "version": "Version", "control": "Wer Knöpfe drücken darf", "control.local": "nur dieser Rechner", "control.paired": "dieser Rechner und gekoppelte Handys",
    "control.allowed": "alle, die sich verbinden dürfen", "control.nobody": "niemand", "kept": "Partien liegen in", "not-kept": "nicht gespeichert",
    "app": "WhitePawn-App", "app-how": "Wählen Sie für jeden Weg das Brett, auf dem die App spielt. In der App heißt es BoardBridge.",
    "app.ble": "Über Bluetooth", "app.rfcomm": "Über Bluetooth Classic, nach dem Koppeln", "app.tcp": "Über TCP, von diesem Rechner", "off": "aus",
    "saved": "Gespeicherte Partien", "site": "Ort", "player": "Spieler am Brett", "every_move": "Jeden Zug sofort speichern, für ein Programm, das die Datei verfolgt", "board": "Brett {board}",
    "pair": "Dieses Telefon mit BoardBridge koppeln", "pair-line": "noch nicht gekoppelt", "pair-button": "Koppeln", "pair-code": "Code", "pair-name": "Name dieses Telefons",
    "pair-how": "Auf dem Rechner von BoardBridge „boardbridge pair“ ausführen oder dort auf der Seite unter Einstellungen „Telefon koppeln“ drücken. Die sechs Ziffern hier eingeben.",
    "phones": "Gekoppelte Telefone", "phone-pair": "Telefon koppeln", "phone-this": "{name} (dieses)", "phone-since": "seit {day}",
    "phone-remove": "Entfernen", "phone-remove-named": "{name} entfernen", "phone-removed": "{name} ist entfernt.", "phone-paired": "{name} ist gekoppelt.",
    "code-how": "Auf dem Telefon das Bild scannen oder {address} öffnen und diesen Code eingeben. Er gilt für ein Telefon, zwei Minuten lang.",
    "code-else": "Findet das Telefon diese Seite nicht, öffnen Sie dort {addresses}.", "or": " oder ",
    "code-over": "Die Zeit des Codes ist um.", "code-picture": "QR-Code mit der Adresse und dem Code",
  },
};

/** The chosen language, or the first of the browser's that is here. */
const LANGUAGE = [localStorage.getItem("language"), ...navigator.languages].map((tag) => tag?.slice(0, 2)).find((tag) => tag in WORDS) || "en";

/** The words for a key, with its {values}. */
function t(key, values = {}) {
  return filled(WORDS[LANGUAGE][key] ?? WORDS.en[key] ?? key, values);
}

/** Words with their {values}. */
function filled(words, values) {
  return words.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

/** Puts the words into what stands in the page: data-t is a text, data-label a label. */
function translate(root) {
  for (const found of root.querySelectorAll("[data-t]")) found.textContent = t(found.dataset.t);
  for (const found of root.querySelectorAll("[data-label]")) found.setAttribute("aria-label", t(found.dataset.label));
  for (const found of root.querySelectorAll("template")) translate(found.content);
}

// ---- moves in words

const pieceName = (letter) => t("piece." + letter.toLowerCase());

/** A move in SAN: "knight takes f3, check". */
function spoken(san) {
  const end = san.endsWith("#") ? t("checkmate") : san.endsWith("+") ? t("check") : "";
  if (san.startsWith("O-O-O")) return t("castles-long") + end;
  if (san.startsWith("O-O")) return t("castles-short") + end;
  const isPiece = san[0] >= "A" && san[0] <= "Z";
  const rest = (isPiece ? san.slice(1) : san).replace(/[+#]/g, "").replace("x", t("takes")).trimStart();
  const promoted = rest.replace(/=([QRBN])/, (_, role) => ", " + pieceName(role));
  return (isPiece ? pieceName(san[0]) + " " : "") + promoted + end;
}

/** A move by its squares, in this position or just made in it: "knight b1 to c3". Nonsense stays as it is. */
function moveInWords(uci, fen, last) {
  const [from, to] = [uci.slice(0, 2), uci.slice(2, 4)];
  const found = pieces(fen);
  const made = !found.has(from) && last?.uci === uci;
  const sign = found.get(made ? to : from);
  if (!sign) return uci;
  if (sign.toLowerCase() === "k" && Math.abs(from.charCodeAt(0) - to.charCodeAt(0)) > 1) {
    return t(from < to ? "castles-short" : "castles-long");
  }
  const takes = made ? last.san.includes("x") : found.has(to) || (sign.toLowerCase() === "p" && from[0] !== to[0]);
  // After a promotion the piece on the square is the new one.
  const move = t(takes ? "captures" : "goes", { piece: pieceName(made && uci[4] ? "p" : sign), from, to });
  return uci[4] ? t("promoted", { move, piece: pieceName(uci[4]) }) : move;
}
