// A digest that shows if device code has changed since it was built.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_DIGEST_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_DIGEST_H_

#include "ir/stable_hash.h"

namespace kernpack {

// Generators write it into a module, which computes it again when it is loaded.
inline uint64_t DeviceCodeDigest(const char* data, size_t size) { return StableHash(data, size); }

}  // namespace kernpack

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_DIGEST_H_
