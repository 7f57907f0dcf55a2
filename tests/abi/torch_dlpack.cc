// Our DLPack declarations against the dlpack.h that torch ships. Compile only.
#include <ATen/dlpack.h>
#include <kernpack/abi.h>
#include <kernpack/host/host.h>

#include "pin_macros.h"

#include "dlpack_pins.h"
