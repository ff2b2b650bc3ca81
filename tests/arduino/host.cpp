// Runs docs/swpp-board/swpp-board.ino on Linux, on a pseudo-terminal in place of its serial port.
//
//   g++ -o swpp-board tests/arduino/host.cpp && ./swpp-board
//
// Standard input is the hand: "e2e4" presses e2, then e4; "e1" presses one square. Standard output says "port
// /dev/pts/N", then "ready", then "lamp on" and "lamp off", "new game" when an NG has been read, and "no square: zz" for
// what cannot be pressed. It ends with its input.

#include "Arduino.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <deque>
#include <string>

#include "../../docs/swpp-board/swpp-board.ino"

namespace {

// How long a button is down, and up again, in milliseconds: more than the sketch asks for.
const unsigned long PRESS = 40;

int port = -1;
uint8_t modes[32];
uint8_t values[32];

// The squares still to be pressed, and since when the first of them is.
std::deque<int> presses;
unsigned long pressedAt = 0;

void fail(const char *what) {
  perror(what);
  exit(1);
}

void press(int square) {
  if (presses.empty()) pressedAt = millis();
  presses.push_back(square);
}

// The square that is down now, or -1.
int down() {
  while (!presses.empty() && millis() - pressedAt >= 2 * PRESS) {
    presses.pop_front();
    pressedAt = millis();
  }
  return !presses.empty() && millis() - pressedAt < PRESS ? presses.front() : -1;
}

void openPort() {
  port = posix_openpt(O_RDWR | O_NOCTTY);
  if (port < 0 || grantpt(port) != 0 || unlockpt(port) != 0) fail("pseudo-terminal");
  const char *name = ptsname(port);
  // Kept open, so that the port outlives the programs that open and close it; raw, like a wire.
  const int other = open(name, O_RDWR | O_NOCTTY);
  struct termios settings;
  if (other < 0 || tcgetattr(other, &settings) != 0) fail(name);
  cfmakeraw(&settings);
  if (tcsetattr(other, TCSANOW, &settings) != 0) fail(name);
  printf("port %s\n", name);
}

// "e2e4" is two squares. All of a line is pressed, or nothing.
void hand(const std::string &line) {
  std::deque<int> squares;
  for (size_t i = 0; i < line.size(); i += 2) {
    const int8_t pressed = i + 1 < line.size() ? square(line.c_str() + i) : NO_SQUARE;
    if (pressed == NO_SQUARE) {
      printf("no square: %s\n", line.substr(i).c_str());
      return;
    }
    squares.push_back(pressed);
  }
  for (const int pressed : squares) press(pressed);
}

// False when the hand has gone.
bool readHandsWords() {
  static std::string words;
  char bytes[256];
  const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
  if (count <= 0) return false;
  words.append(bytes, count);
  for (size_t end; (end = words.find('\n')) != std::string::npos; words.erase(0, end + 1)) hand(words.substr(0, end));
  return true;
}

}  // namespace

SerialPort Serial;

void SerialPort::begin(unsigned long) {}

int SerialPort::available() {
  struct pollfd wait = {port, POLLIN, 0};
  return poll(&wait, 1, 0) == 1 && (wait.revents & POLLIN) ? 1 : 0;
}

int SerialPort::read() {
  static std::string line;
  unsigned char byte;
  if (::read(port, &byte, 1) != 1) return -1;
  line += byte;
  if (byte == '\n') {
    if (line.compare(0, 2, "NG") == 0) puts("new game");
    line.clear();
  }
  return byte;
}

void SerialPort::print(const char *text) {
  for (size_t left = strlen(text); left > 0;) {
    const ssize_t written = ::write(port, text, left);
    if (written < 0 && errno != EINTR) fail("write");
    if (written > 0) text += written, left -= written;
  }
}

void SerialPort::print(char c) {
  const char text[] = {c, '\0'};
  print(text);
}

void pinMode(uint8_t pin, uint8_t mode) { modes[pin] = mode; }

void digitalWrite(uint8_t pin, uint8_t value) {
  if (pin == LAMP_PIN && values[pin] != value) printf("lamp %s\n", value == HIGH ? "on" : "off");
  values[pin] = value;
}

// A wire of the matrix: pulled up, unless the button that is down joins it to a rank that is low.
int digitalRead(uint8_t pin) {
  const int square = down();
  if (modes[pin] != INPUT_PULLUP) fail("an input without its pull-up");
  if (square < 0 || FILE_PINS[square % 8] != pin) return HIGH;
  const uint8_t rank = RANK_PINS[square / 8];
  return modes[rank] == OUTPUT && values[rank] == LOW ? LOW : HIGH;
}

unsigned long millis() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000UL + now.tv_nsec / 1000000UL;
}

void delayMicroseconds(unsigned int) {}

int main() {
  setvbuf(stdout, NULL, _IOLBF, 0);
  openPort();
  setup();
  puts("ready");
  for (;;) {
    loop();
    // Until something comes, or a button is due.
    struct pollfd waits[] = {{port, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
    poll(waits, 2, 1);
    if (waits[1].revents != 0 && !readHandsWords()) return 0;
  }
}
