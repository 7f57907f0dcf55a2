// Our DLPack declarations against the dlpack.h that torch ships. Compile only.
#include <ATen/dlpack.h>
#include <kernpack/dlpack.h>

#include "../../bindings/python/src/values/exchange.h"
#include "pin_macros.h"

#include "dlpack_pins.h"
