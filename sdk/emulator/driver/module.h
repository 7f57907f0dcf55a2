// Modules: PTX to programs, with memory for its variables.
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_MODULE_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_MODULE_H_

#include <string>

#include "driver/machine.h"

namespace kernpack::cuda {

// Everything that the text says is checked now, as a driver compiles it: all kernels are decoded.
Result LoadModule(Context context, const std::string& ptx, ModuleHandle* out, std::string* log);
void FreeModule(ModuleHandle module);

}  // namespace kernpack::cuda

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_MODULE_H_
