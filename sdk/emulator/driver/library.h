// Kernels of libraries, which any context may launch.
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_LIBRARY_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_LIBRARY_H_

#include "driver/machine.h"

namespace kernpack::cuda {

// Makes a library's kernel the one of that context; other kernels stay what they are.
Result InContext(Context context, FunctionHandle* function);

}  // namespace kernpack::cuda

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_LIBRARY_H_
