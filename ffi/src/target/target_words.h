// The processor that the words of a CPU target describe.
#ifndef KERNPACK_SRC_TARGET_TARGET_WORDS_H_
#define KERNPACK_SRC_TARGET_TARGET_WORDS_H_

#include <string>

#include "shared/target_text.h"

#include "target/cpu_spec.h"

namespace kernpack::host {

// As ReadCpuSpec of cpu_spec.h, without advice.
std::string ReadCpuSpec(const TargetWords& target, CpuSpec* out);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_TARGET_TARGET_WORDS_H_
