// A chess board that speaks SWPP, the WhitePawn app's protocol, over its serial port: for BoardBridge (kind = "swpp")
// and for the app itself. It uses nothing but Serial, and is meant for an Arduino Uno, a Mega or an ESP32.
//
// As it stands, the board is 64 push buttons in a matrix, one under each square, and one lamp:
//
//   - a move is made by pressing the square it comes from, then the square it goes to. Castling is the king's move;
//   - the lamp is on while a move of the opponent waits to be made in the same way, and blinks once at any other move;
//   - pressing the same square twice forgets it.
//
// Your own sensors go into squarePressed(), your own lamps into showMove(). Everything else can stay as it is.

// The board's name. The version is exactly 8 characters, filled with blanks on the left; the serial number
// may be empty.
const char BOARD_VERSION[] = "     1.0";
const char BOARD_SERIAL[] = "DIY-1";
const unsigned long BAUD = 115200;

// ---- The wiring ---------------------------------------------------------------------------------
//
// Rank 1 to 8 are outputs, file a to h are inputs that are pulled up. Each button, with a diode in series (1N4148, its
// ring toward the rank's wire), joins the wire of its rank and the wire of its file.

#if defined(ESP32)
const uint8_t RANK_PINS[8] = {4, 5, 13, 14, 25, 26, 27, 32};
const uint8_t FILE_PINS[8] = {16, 17, 18, 19, 21, 22, 23, 33};
const uint8_t LAMP_PIN = 2;
#else
const uint8_t RANK_PINS[8] = {2, 3, 4, 5, 6, 7, 8, 9};
const uint8_t FILE_PINS[8] = {10, 11, 12, A0, A1, A2, A3, A4};
const uint8_t LAMP_PIN = LED_BUILTIN;
#endif

// Squares are numbers: a1 is 0, b1 is 1, h8 is 63.
const int8_t NO_SQUARE = -1;

struct Move {
  int8_t from;
  int8_t to;
};

// ---- Sensors and lamps: put yours here ----------------------------------------------------------

void setUpHardware() {
  for (uint8_t i = 0; i < 8; i++) {
    pinMode(RANK_PINS[i], OUTPUT);
    digitalWrite(RANK_PINS[i], HIGH);
    pinMode(FILE_PINS[i], INPUT_PULLUP);
  }
  pinMode(LAMP_PIN, OUTPUT);
}

// The square that is held down now, or NO_SQUARE.
int8_t squarePressed() {
  int8_t pressed = NO_SQUARE;
  for (uint8_t rank = 0; rank < 8; rank++) {
    digitalWrite(RANK_PINS[rank], LOW);
    delayMicroseconds(5);  // long wires are slow
    for (uint8_t file = 0; file < 8; file++) {
      if (digitalRead(FILE_PINS[file]) == LOW) pressed = rank * 8 + file;
    }
    digitalWrite(RANK_PINS[rank], HIGH);
  }
  return pressed;
}

// The opponent's move, to be made by the hand: light up its two squares here.
void showMove(const Move &) {
  digitalWrite(LAMP_PIN, HIGH);
}

void clearLamps() {
  digitalWrite(LAMP_PIN, LOW);
}

// ---- What the board knows of the game -----------------------------------------------------------

bool greeted = false;  // the app has sent H0: before that, nothing is sent
bool ended = false;

// The number of moves made: if even, it is White's turn. The protocol does not send colours.
unsigned int plies = 0;
Move last = {NO_SQUARE, NO_SQUARE};
// White's, Black's. Unknown until a game begins: a board that was switched off in mid-game is only shown the pending move
// again.
bool kingIsHome[2] = {false, false};

// The opponent's moves that wait for the hand. There are several when a game is resumed. The app cannot be told that a
// move was made, so none may be lost.
const uint8_t MAX_SHOWN = 32;
Move shown[MAX_SHOWN];
uint8_t firstShown = 0;
uint8_t countShown = 0;

int8_t lifted = NO_SQUARE;  // the square the hand's move comes from

// The lamps are off for a moment: the hand has made another move than the one shown.
bool blinking = false;
unsigned long blinkingSince = 0;

const int8_t KINGS_HOME[2] = {4, 60};

bool isCastling(const Move &move) {
  for (uint8_t colour = 0; colour < 2; colour++) {
    const int8_t home = KINGS_HOME[colour];
    if (kingIsHome[colour] && move.from == home && (move.to == home + 2 || move.to == home - 2)) return true;
  }
  return false;
}

void count(const Move &move) {
  for (uint8_t colour = 0; colour < 2; colour++) {
    if (move.from == KINGS_HOME[colour]) kingIsHome[colour] = false;
  }
  last = move;
  plies++;
}

void newGame() {
  ended = false;
  plies = 0;
  last = {NO_SQUARE, NO_SQUARE};
  kingIsHome[0] = kingIsHome[1] = true;
  countShown = 0;
  lifted = NO_SQUARE;
  clearLamps();
}

// ---- From the board to the app ------------------------------------------------------------------
//
// A message ends in LF and nothing else: write '\n', never println(), which ends a line in CR LF. Never send an empty
// line, nor anything but these two messages: the app jams on it.

void sendHandshake() {
  Serial.print("H101");
  Serial.print(BOARD_VERSION);
  Serial.print(BOARD_SERIAL);
  Serial.print('\n');
}

void sendMove(const Move &move) {
  if (isCastling(move)) {
    Serial.print(move.to > move.from ? "MB  0-0\n" : "MB0-0-0\n");
    return;
  }
  // Five characters, filled with a blank on the left.
  char text[] = "MB a1a1\n";
  text[3] += move.from % 8;
  text[4] += move.from / 8;
  text[5] += move.to % 8;
  text[6] += move.to / 8;
  Serial.print(text);
}

// ---- From the app to the board ------------------------------------------------------------------

int8_t square(const char *text) {
  if (text[0] < 'a' || text[0] > 'h' || text[1] < '1' || text[1] > '8') return NO_SQUARE;
  return (text[1] - '1') * 8 + (text[0] - 'a');
}

// "e7e5", "e7e8q" (the board ignores the promotion piece), "0-0" and "0-0-0", with or without blanks before them.
bool parseMove(const char *text, Move &move) {
  while (*text == ' ') text++;
  if ((text[0] == '0' || text[0] == 'O') && text[1] == '-') {
    // The king that can still castle; if both can, that of the side to move.
    move.from = KINGS_HOME[kingIsHome[0] == kingIsHome[1] ? plies % 2 : (kingIsHome[0] ? 0 : 1)];
    move.to = strlen(text) > 3 ? move.from - 2 : move.from + 2;
    return true;
  }
  if (strlen(text) < 4) return false;
  move.from = square(text);
  move.to = square(text + 2);
  return move.from != NO_SQUARE && move.to != NO_SQUARE && move.from != move.to;
}

void moveOnApp(const char *text) {
  Move move;
  if (!parseMove(text, move)) return;
  // The same squares twice running cannot be a new move: it is one the board already has, sent again.
  if (move.from == last.from && move.to == last.to) return;
  if (countShown == MAX_SHOWN) return;
  shown[(firstShown + countShown) % MAX_SHOWN] = move;
  countShown++;
  count(move);
  lifted = NO_SQUARE;
  if (countShown == 1) showMove(move);
}

void handle(const char *line) {
  if (line[0] == 'H' && line[1] == '0') {
    // Every time, and at once: the app asks four times within a second, and then gives up.
    sendHandshake();
    greeted = true;
  } else if (line[0] == 'N' && line[1] == 'G') {
    // line[2] is the kind of game: 0 offline, 1 against an engine, 2 on WhitePawn, 3 on Lichess.
    // line[3] is Y if the hand makes the first move. This board does not need to know.
    newGame();
  } else if (line[0] == 'G' && line[1] == 'E') {
    // line[2] is the end: 0 left unfinished, 1 checkmate, 2 draw, 3 the hand has resigned, 4 the opponent has. A move
    // that is still shown stays: it may be the one that ends the game.
    ended = true;
  } else if (line[0] == 'M' && line[1] == 'A') {
    moveOnApp(line + 2);
  }
  // Anything else is for other kinds of board.
}

// Reads what has arrived, and never waits for more: half a line is kept until the rest comes.
void readSerial() {
  static char line[32];
  static uint8_t length = 0;
  static bool tooLong = false;
  while (Serial.available() > 0) {
    const char c = Serial.read();
    if (c == '\n') {
      line[length] = '\0';
      if (!tooLong) handle(line);
      length = 0;
      tooLong = false;
    } else if (length == sizeof(line) - 1) {
      tooLong = true;
    } else if (c >= ' ' && c <= '~') {
      line[length++] = c;
    }
  }
}

// ---- The hand -----------------------------------------------------------------------------------

void handMoved(const Move &move) {
  if (countShown > 0) {
    // Making the opponent's move on the board does not count as a move: the app is not told.
    if (move.from != shown[firstShown].from || move.to != shown[firstShown].to) {
      clearLamps();
      blinking = true;
      blinkingSince = millis();
      return;
    }
    firstShown = (firstShown + 1) % MAX_SHOWN;
    countShown--;
    clearLamps();
    if (countShown > 0) showMove(shown[firstShown]);
    return;
  }
  if (!greeted || ended) return;
  sendMove(move);
  count(move);
}

void endBlinking() {
  if (!blinking || millis() - blinkingSince < 200) return;
  blinking = false;
  if (countShown > 0) showMove(shown[firstShown]);
}

void squareChosen(int8_t square) {
  if (lifted == NO_SQUARE) {
    lifted = square;
  } else if (lifted == square) {
    lifted = NO_SQUARE;
  } else {
    const Move move = {lifted, square};
    lifted = NO_SQUARE;
    handMoved(move);
  }
}

// A button counts when it has been the same for 20 ms: contacts bounce.
void readHand() {
  static int8_t before = NO_SQUARE;
  static int8_t settled = NO_SQUARE;
  static unsigned long since = 0;
  const int8_t now = squarePressed();
  if (now != before) {
    before = now;
    since = millis();
  } else if (now != settled && millis() - since >= 20) {
    settled = now;
    if (now != NO_SQUARE) squareChosen(now);
  }
}

// ---- Arduino's own ------------------------------------------------------------------------------

void setup() {
  setUpHardware();
  Serial.begin(BAUD);
}

// Never use delay(), here or in your own code: an H0 must be answered within a fifth of a second.
void loop() {
  readSerial();
  readHand();
  endBlinking();
}
