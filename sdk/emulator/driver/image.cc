#include "driver/image.h"

#include <cstring>
#include <string_view>

namespace kernpack::cuda {
namespace {

constexpr uint32_t kWrapperMagic = 0x466243b1;  // what nvcc's host code registers: a pointer to the fatbin is in it
constexpr uint32_t kFatbinMagic = 0xba55ed50;
constexpr uint16_t kFatbinPtx = 1;
constexpr uint64_t kLz4 = 0x2000, kZstd = 0x8000;

constexpr const char* kNoPtx =
    "the emulated device runs PTX, and this image has machine code only; build it with PTX inside, as by "
    "-arch=compute_80 or -gencode arch=compute_80,code=compute_80";

template <class T>
T Read(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

Result OfFatbin(const uint8_t* image, int arch, std::string* ptx, std::string* log) {
  const uint8_t* at = image + Read<uint16_t>(image + 6);
  const uint8_t* const end = at + Read<uint64_t>(image + 8);
  int best = -1;
  bool newer = false;
  std::string_view packed;
  Packing packing = Packing::kNone;
  uint64_t bytes = 0;
  while (end - at >= 48) {
    const auto header = Read<uint32_t>(at + 4);
    const auto size = Read<uint64_t>(at + 8);
    if (header < 48 || header > static_cast<uint64_t>(end - at) || size > static_cast<uint64_t>(end - at) - header)
      break;
    const auto number = static_cast<int>(Read<uint32_t>(at + 28));
    if (Read<uint16_t>(at) == kFatbinPtx) {
      if (number > arch) {
        newer = true;
      } else if (number > best) {
        best = number;
        const auto flags = Read<uint64_t>(at + 40);
        packing = (flags & kZstd) != 0 ? Packing::kZstd : (flags & kLz4) != 0 ? Packing::kLz4 : Packing::kNone;
        packed = {reinterpret_cast<const char*>(at + header), size};
        if (packing != Packing::kNone && header >= 64) {  // padded behind what is compressed
          packed = packed.substr(0, Read<uint32_t>(at + 16));
          bytes = Read<uint64_t>(at + 56);
        }
      }
    }
    at += header + size;
  }
  if (best >= 0) return Unpack(packing, packed, bytes, ptx, log) ? kSuccess : kNoBinaryForGpu;
  *log = newer
             ? "the PTX in this fatbin is for newer devices than the emulated one; KERNPACK_EMULATOR=sm_90 sets another"
             : kNoPtx;
  return kNoBinaryForGpu;
}

}  // namespace

Result ExtractPtx(const void* image, int arch, std::string* ptx, std::string* log) {
  const auto* bytes = static_cast<const uint8_t*>(image);
  if (bytes[0] == 0x7f && std::memcmp(bytes + 1, "ELF", 3) == 0) {
    *log = kNoPtx;
    return kNoBinaryForGpu;
  }
  if (std::memcmp(bytes, &kWrapperMagic, 4) == 0) bytes = reinterpret_cast<const uint8_t*>(Read<uintptr_t>(bytes + 8));
  if (std::memcmp(bytes, &kFatbinMagic, 4) == 0) return OfFatbin(bytes, arch, ptx, log);
  ptx->assign(reinterpret_cast<const char*>(bytes));
  return kSuccess;
}

bool TakesPtx(int driver_version, int ptx_version) {
  constexpr int kOf12[] = {80, 81, 82, 83, 84, 85, 85, 86, 87, 88};
  const int major = driver_version / 1000, minor = driver_version % 1000 / 10;
  if (major == 12) return ptx_version <= kOf12[minor > 9 ? 9 : minor];
  return ptx_version <= (major - 4) * 10 + (minor > 9 ? 9 : minor);
}

}  // namespace kernpack::cuda
