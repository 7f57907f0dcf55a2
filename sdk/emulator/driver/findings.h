// Errors of kernels, launches by kernel, and functions that aren't here, for programs. Kept for control.h's
// kernpack_emulator_findings, and appended to the file that KERNPACK_EMULATOR_REPORT names, one JSON object per line.
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_FINDINGS_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_FINDINGS_H_

#include <string>

#include "exec/fault.h"

namespace kernpack::cuda {

// An error of a kernel on a device of compute capability `arch`. `seed` is that of the order of warps, 0 if they ran in order.
void AddFinding(int arch, const emulator::Fault& fault, long seed);
// An error that isn't a kernel's.
void AddFinding(const std::string& kind, const std::string& message);
// Code that can't be loaded, and why.
void AddRefusal(const std::string& why);
void AddLaunch(int arch, const std::string& kernel);
// A function that isn't here was called, or only looked up. The first call of a function is printed.
void AddMissing(const char* function, bool called);

// The errors since the last call, as a JSON list.
std::string TakeFindings();
// Writes launches and functions to the file; the next call writes only what came after.
void WriteReport();

}  // namespace kernpack::cuda

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_FINDINGS_H_
