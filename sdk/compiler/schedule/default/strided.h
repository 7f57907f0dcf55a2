// Finds stages that read along an axis in steps.
#ifndef KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_STRIDED_H_
#define KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_STRIDED_H_

#include <kernpack/sdk/schedule/stage.h>

namespace kernpack::sdk::ir {

// Buffers that the stage reads with the axis in another dimension than their last.
std::vector<Buffer> StridedSources(const Stage& stage, const StageAxis& axis);
// True if every index of these buffers is a single axis.
bool AreIndexedByAxes(const Stage& stage, const std::vector<Buffer>& buffers);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_STRIDED_H_
