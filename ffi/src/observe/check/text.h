// Values in words, for findings and for the line that a call is announced with.
#ifndef KERNPACK_SRC_OBSERVE_CHECK_TEXT_H_
#define KERNPACK_SRC_OBSERVE_CHECK_TEXT_H_

#include <string>

#include <kernpack/host/host.h>

#include "observe/check/block.h"

namespace kernpack::host::check {

// Lists in lists are followed so far: one may hold itself.
constexpr int kMostNested = 8;

std::string TensorText(const KpDLTensor& tensor);                      // f32[4, 8]
std::string ValueText(const KpAny& value);                             // 1e-05, 'mean', None, [f32[4], f32[4]]
// element [3, 7] of f32[4, 8], the value of f32[]: of an element's row-major number
std::string ElementName(const KpDLTensor& tensor, int64_t element);
// 1 element, 3 to 5 elements: how far from its data a block was written
std::string ReachText(const Block::Reach& reach, uint64_t unit_bytes, const char* unit);
std::string ElementText(KpDLDataType dtype, const void* at);  // 1.5; "" for dtypes without a plain number
std::string CallText(const KpLoadedFunction& function, const KpAny* args,
                     int32_t num_args);  // my.op(f32[4, 8], eps=1e-05)

}  // namespace kernpack::host::check

#endif  // KERNPACK_SRC_OBSERVE_CHECK_TEXT_H_
