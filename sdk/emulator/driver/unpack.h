// Code that nvcc compressed, unpacked by the system's libzstd or liblz4, which are opened when they are first needed.
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_UNPACK_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_UNPACK_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace kernpack::cuda {

enum class Packing : uint8_t { kNone, kLz4, kZstd };

// False with *why.
bool Unpack(Packing packing, std::string_view packed, uint64_t bytes, std::string* out, std::string* why);

}  // namespace kernpack::cuda

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_UNPACK_H_
