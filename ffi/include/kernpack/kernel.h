// What a kernel's source file includes.
#ifndef KERNPACK_KERNEL_H_
#define KERNPACK_KERNEL_H_

#include <kernpack/export.h>
#include <kernpack/tensor.h>

#endif  // KERNPACK_KERNEL_H_
