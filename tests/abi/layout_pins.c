/* The pins as C99 sees abi.h: a wrong one is an array of negative size. Compile only. */
#include <kernpack/abi.h>

#define PIN_JOIN_(a, b) a##b
#define PIN_JOIN(a, b) PIN_JOIN_(a, b)
#define PIN_CHECK(condition) extern char PIN_JOIN(pin_, __LINE__)[(condition) ? 1 : -1];
#define PIN_SIZE(type, bytes) PIN_CHECK(sizeof(type) == (bytes))
#define PIN(type, field, offset) PIN_CHECK(offsetof(type, field) == (offset))
#define PIN_VALUE(constant, value) PIN_CHECK((constant) == (value))

#include "layout_pins.h"
