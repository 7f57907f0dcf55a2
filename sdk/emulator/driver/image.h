// Images that a module is loaded from.
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_IMAGE_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_IMAGE_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "backends/cuda/driver_types.h"

namespace kernpack::cuda {

// The PTX in an image for a device of architecture `arch` (90 for sm_90): the text itself, or the newest of a fatbin that fits.
// Machine code is none. What is wrong goes to *log, as a driver's compiler says it.
Result ExtractPtx(const void* image, int arch, std::string* ptx, std::string* log);

// True if a driver of that CUDA version accepts PTX of this version (83 is 8.3).
bool TakesPtx(int driver_version, int ptx_version);

// Code that nvcc compressed, unpacked by the system's libzstd or liblz4, which are opened when they are first needed.
enum class Packing : uint8_t { kNone, kLz4, kZstd };

// False with *why.
bool Unpack(Packing packing, std::string_view packed, uint64_t bytes, std::string* out, std::string* why);

// The instructions of an image, as JSON, for people who want to know if the emulated device can run it.
// As control.h's kernpack_emulator_survey says.
std::string SurveyText(const void* image, long arch);

}  // namespace kernpack::cuda

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_IMAGE_H_
