// The bits of the storage types.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_LLVM_STORAGE_FORMAT_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_LLVM_STORAGE_FORMAT_H_

#include <kernpack/sdk/ir/type.h>

namespace kernpack::sdk::ir {

struct StorageFormat {
  uint32_t mantissa;  // bits
  uint32_t bias;
  uint32_t limit;  // the least code without sign that isn't a finite number: infinity, or the one NaN of e4m3fn
  uint32_t nan;  // the canonical NaN
  bool has_infinity;

  uint32_t magnitude(Type t) const { return (1u << (t.bits - 1u)) - 1; }  // all but the sign
};

inline StorageFormat GetFormat(Type t) {
  const Type element = ElementOf(t);
  if (element == f16) return {10, 15, 0x7c00, 0x7e00, true};
  if (element == bf16) return {7, 127, 0x7f80, 0x7fc0, true};
  if (element == f8_e5m2) return {2, 15, 0x7c, 0x7e, true};
  return {3, 7, 0x7f, 0x7f, false};  // f8_e4m3fn
}

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_LLVM_STORAGE_FORMAT_H_
