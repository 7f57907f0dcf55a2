// The micro-architecture level of this processor, as the x86-64 psABI numbers them.
#ifndef KERNPACK_SRC_TARGET_CPU_LEVEL_H_
#define KERNPACK_SRC_TARGET_CPU_LEVEL_H_

#include <string_view>

namespace kernpack::host {

// 1 to 4 for x86-64, x86-64-v2, -v3, -v4, with what the operating system saves counted in; 0 on another architecture.
int CpuLevel();

// The level that name stands for, or 0.
int CpuLevelFromName(std::string_view name);
// "x86-64-v3"; static.
const char* CpuLevelName(int level);

// CpuLevel, or less where KERNPACK_CPU asks for less (for testing). Returns 0, or -1 with ValueError raised.
int CappedCpuLevel(int* out);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_TARGET_CPU_LEVEL_H_
