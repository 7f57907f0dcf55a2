// Helpers of the executable for tensors.
#ifndef KERNPACK_SDK_PROGRAMS_EXECUTE_TENSORS_H_
#define KERNPACK_SDK_PROGRAMS_EXECUTE_TENSORS_H_

#include <kernpack/shape.h>
#include <kernpack/signature/memory.h>

#include <algorithm>

#include "execute/device_map.h"

namespace kernpack::sdk::program {

inline ShapeView GetSizes(const KpDLTensor& tensor) {
  return {tensor.shape, static_cast<size_t>(std::max(tensor.ndim, 0))};
}

inline bool SameDType(KpDLDataType a, KpDLDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

using signature::IsCompact;

// True if it is a compact tensor of the dtype, shape and device of `other`.
inline bool IsLike(const KpDLTensor& tensor, const KpDLTensor& other) {
  return SameDType(tensor.dtype, other.dtype) && SameDevice(tensor.device, other.device) && tensor.ndim == other.ndim &&
         std::equal(other.shape, other.shape + other.ndim, tensor.shape) && IsCompact(tensor);
}

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_EXECUTE_TENSORS_H_
