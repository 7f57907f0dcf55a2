// The pins as C++17 sees abi.h. Compile only.
#include <kernpack/abi.h>

#define PIN_SIZE(type, bytes) static_assert(sizeof(type) == (bytes), #type " changed its size");
#define PIN(type, field, offset) static_assert(offsetof(type, field) == (offset), #type "." #field " moved");
#define PIN_VALUE(constant, value) static_assert((constant) == (value), #constant " changed");

#include "layout_pins.h"
