// Tensor objects of our making: the ABI's body, what owns the memory, and shape and strides behind it.
#ifndef KERNPACK_SRC_VALUES_TENSOR_TENSOR_OBJECT_H_
#define KERNPACK_SRC_VALUES_TENSOR_TENSOR_OBJECT_H_

#include <cstddef>
#include <cstdint>

#include <kernpack/abi.h>

namespace kernpack::host {

constexpr size_t kTensorAlignment = 256;

struct TensorBody {
  KpTensorObject base;
  uint64_t flags;  // DLPack's
  void* context;
  void (*release)(void* context);  // nullable; the DLTensor's memory goes with it
};

// Reads the dtype, shape and device of a new tensor from `prototype` (nullable), whose data, strides and
// byte_offset don't count. 0, or -1 with an error of `who` raised. *out's shape is the prototype's.
int ReadPrototype(const KpDLTensor* prototype, const char* who, KpDLTensor* out);

// A tensor over `source`'s memory (validated); shape and strides are copied, missing strides filled in. Takes no ownership
// of anything yet: set context and release afterwards. Throws std::bad_alloc.
TensorBody* NewTensor(const KpDLTensor& source);
// As above with `bytes` of memory of its own, aligned, not zeroed.
TensorBody* NewTensorWithData(const KpDLTensor& prototype, size_t bytes);

inline constexpr uint64_t kReadOnly = 1;

// The DLPack flags of a tensor; 0 when it is not one of ours.
uint64_t TensorFlags(const KpObject* tensor) noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_VALUES_TENSOR_TENSOR_OBJECT_H_
