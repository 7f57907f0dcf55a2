// The processor that the words of a CPU target describe.
#ifndef KERNPACK_SRC_TARGET_TARGET_WORDS_H_
#define KERNPACK_SRC_TARGET_TARGET_WORDS_H_

#include <string>

#include "shared/target_text.h"

#include "target/cpu_spec.h"

namespace kernpack::host {

// Of targets that run on the CPU, best first; NULL-terminated.
inline constexpr const char* kCpuKinds[] = {"llvm", "c", nullptr};
inline bool IsCpuKind(std::string_view kind) { return kind == kCpuKinds[0] || kind == kCpuKinds[1]; }

// As ReadCpuSpec of cpu_spec.h, without advice.
std::string ReadCpuSpec(const TargetWords& target, CpuSpec* out);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_TARGET_TARGET_WORDS_H_
