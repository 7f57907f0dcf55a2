// The module itself: its name and version.
#include <kernpack/kernel.h>

KP_MODULE("kernpack_kernels", KERNPACK_KERNELS_VERSION);
