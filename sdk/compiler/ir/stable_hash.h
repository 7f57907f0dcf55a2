// The SDK's one hash of bytes: FNV-1a. The same from run to run and machine to machine, which cache keys and generated modules need;
// it tells changed device code from what was built.
#ifndef KERNPACK_SDK_COMPILER_IR_STABLE_HASH_H_
#define KERNPACK_SDK_COMPILER_IR_STABLE_HASH_H_

#include <cstddef>
#include <cstdint>

namespace kernpack {

inline uint64_t StableHash(const char* data, size_t size) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ static_cast<unsigned char>(data[i])) * 0x100000001b3u;
  return hash;
}

// Generators write it into a module, which computes it again when it is loaded.
inline uint64_t DeviceCodeDigest(const char* data, size_t size) { return StableHash(data, size); }

}  // namespace kernpack

#endif  // KERNPACK_SDK_COMPILER_IR_STABLE_HASH_H_
