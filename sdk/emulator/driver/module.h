// Modules: PTX to programs, with memory for its variables.
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_MODULE_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_MODULE_H_

#include <string>

#include "driver/machine.h"

namespace kernpack::cuda {

// Everything that the text says is checked now, as a driver compiles it: all kernels are decoded.
Result LoadModule(Context context, const std::string& ptx, ModuleHandle* out, std::string* log);
void FreeModule(ModuleHandle module);

// The PTX of modules, kept where KERNPACK_EMULATOR_PTX says, for people who want to see what a compiler made.
// Writes the text to a file of that folder, which its contents name. That it can't is said on stderr, once.
void KeepPtx(const std::string& ptx);

}  // namespace kernpack::cuda

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_MODULE_H_
