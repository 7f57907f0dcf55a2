// This file of the module: its name and version are the CPU's, with which the host merges it.
#include <kernpack/kernel.h>

KP_MODULE("kernpack_kernels", KERNPACK_KERNELS_VERSION);
