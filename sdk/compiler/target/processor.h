// The parser of CPU kinds.
#ifndef KERNPACK_SDK_COMPILER_TARGET_PROCESSOR_H_
#define KERNPACK_SDK_COMPILER_TARGET_PROCESSOR_H_

#include <kernpack/sdk/target_kind.h>

namespace kernpack::sdk {

// Sorts mattr and gives each entry its sign; derives the features: arch, one for each feature of the processor, and
// vector_width in bits; gives Arm targets the key arm_cpu. ValueError for a processor or feature that does not exist.
void ParseProcessor(TargetSpec& spec);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_TARGET_PROCESSOR_H_
