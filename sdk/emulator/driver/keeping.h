// The PTX of modules, kept where KERNPACK_EMULATOR_PTX says, for people who want to see what a compiler made.
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_KEEPING_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_KEEPING_H_

#include <string>

namespace kernpack::cuda {

// Writes the text to a file of that folder, which its contents name. That it can't is said on stderr, once.
void KeepPtx(const std::string& ptx);

}  // namespace kernpack::cuda

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_KEEPING_H_
