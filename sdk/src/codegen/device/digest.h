// What tells changed device code from what was built.
#ifndef KERNPACK_SDK_SRC_CODEGEN_DEVICE_DIGEST_H_
#define KERNPACK_SDK_SRC_CODEGEN_DEVICE_DIGEST_H_

#include <cstddef>
#include <cstdint>

namespace kernpack {

// FNV-1a of the code: generators write it into a module, which computes it again when it is loaded.
inline uint64_t DeviceCodeDigest(const char* data, size_t size) {
  uint64_t digest = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size; ++i) digest = (digest ^ static_cast<unsigned char>(data[i])) * 0x100000001b3u;
  return digest;
}

}  // namespace kernpack

#endif  // KERNPACK_SDK_SRC_CODEGEN_DEVICE_DIGEST_H_
