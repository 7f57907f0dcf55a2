// Our DLPack declarations against the oldest dlpack.h in use, 0.6. Compile only.
#include <kernpack/dlpack.h>

#include "pin_macros.h"

#include "dlpack_pins.h"
