// As much of an Arduino as docs/swpp-board/swpp-board.ino uses, on Linux. The rest is in host.cpp.
#pragma once

#include <stdint.h>
#include <string.h>

const uint8_t LOW = 0, HIGH = 1;
const uint8_t INPUT = 0, OUTPUT = 1, INPUT_PULLUP = 2;
// An Arduino Uno's.
const uint8_t LED_BUILTIN = 13, A0 = 14, A1 = 15, A2 = 16, A3 = 17, A4 = 18;

void pinMode(uint8_t pin, uint8_t mode);
void digitalWrite(uint8_t pin, uint8_t value);
int digitalRead(uint8_t pin);
unsigned long millis();
void delayMicroseconds(unsigned int);

struct SerialPort {
  void begin(unsigned long baud);
  int available();
  int read();
  void print(const char *text);
  void print(char c);
};
extern SerialPort Serial;
