// Tensor maps of the host.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "driver/entries.h"
#include "driver/machine.h"
#include "exec/tensor_map.h"

namespace kernpack::cuda {
namespace {

// CUtensorMapDataType as tensormap.replace numbers them.
constexpr uint8_t kElements[] = {0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 8, 11, 12};
constexpr uint64_t kMapAlign = 64, kMostExtent = uint64_t{1} << 32;

// Fills in the fields that both kinds of maps have, all but the box. False: the map can't be encoded.
bool FillMap(const void* map, TensorMapType type, unsigned rank, void* address, const unsigned long long* dims,
             const unsigned long long* strides, const unsigned* steps, TensorMapInterleave interleave,
             TensorMapSwizzle swizzle, TensorMapFill fill, emulator::TensorMap* out) {
  if (map == nullptr || reinterpret_cast<uintptr_t>(map) % kMapAlign != 0) return false;
  if (type < 0 || type >= static_cast<int>(std::size(kElements)) || rank < 1 || rank > emulator::kMostRank)
    return false;
  if (dims == nullptr || steps == nullptr || (rank > 1 && strides == nullptr)) return false;
  if (interleave != 0 || swizzle < 0 || swizzle > 3 || fill < 0 || fill > 1) return false;
  out->address = reinterpret_cast<uintptr_t>(address);
  out->rank = static_cast<uint8_t>(rank - 1);
  out->element = kElements[type];
  out->swizzle = static_cast<uint8_t>(swizzle);
  out->fill = static_cast<uint8_t>(fill);
  out->magic = emulator::TensorMap::kMagic;
  for (unsigned d = 0; d < rank; ++d) {
    if (dims[d] > kMostExtent) return false;
    out->dims[d] = static_cast<uint32_t>(std::min<uint64_t>(dims[d], kMostExtent - 1));
    out->steps[d] = static_cast<uint8_t>(std::min(steps[d], 255U));
    if (d + 1 < rank) out->strides[d] = strides[d];
  }
  return true;
}

Result Encode(const emulator::TensorMap& from, void* map) {
  if (!CheckTensorMap(from).empty()) return kInvalidValue;
  std::memcpy(map, &from, sizeof from);
  return kSuccess;
}

}  // namespace

Result cuTensorMapEncodeTiled(void* map, TensorMapType type, unsigned rank, void* address,
                              const unsigned long long* dims, const unsigned long long* strides, const unsigned* box,
                              const unsigned* steps, TensorMapInterleave interleave, TensorMapSwizzle swizzle,
                              TensorMapPromotion /*promotion*/, TensorMapFill fill) {
  emulator::TensorMap out{};
  if (box == nullptr || !FillMap(map, type, rank, address, dims, strides, steps, interleave, swizzle, fill, &out))
    return kInvalidValue;
  std::copy(box, box + rank, out.boxes);
  return Encode(out, map);
}

Result cuTensorMapEncodeIm2col(void* map, TensorMapType type, unsigned rank, void* address,
                               const unsigned long long* dims, const unsigned long long* strides, const int* lower,
                               const int* upper, unsigned channels, unsigned pixels, const unsigned* steps,
                               TensorMapInterleave interleave, TensorMapSwizzle swizzle,
                               TensorMapPromotion /*promotion*/, TensorMapFill fill) {
  emulator::TensorMap out{};
  if (lower == nullptr || upper == nullptr || rank < 3 ||
      !FillMap(map, type, rank, address, dims, strides, steps, interleave, swizzle, fill, &out)) {
    return kInvalidValue;
  }
  out.mode = emulator::TensorMode::kIm2col;
  out.boxes[0] = channels, out.boxes[1] = pixels;
  const auto clamp = [](int corner) { return static_cast<int16_t>(std::clamp(corner, INT16_MIN, INT16_MAX)); };
  for (unsigned d = 0; d + 2 < rank; ++d) {
    if (lower[d] != clamp(lower[d]) || upper[d] != clamp(upper[d])) return kInvalidValue;
    out.lower[d] = clamp(lower[d]), out.upper[d] = clamp(upper[d]);
  }
  return Encode(out, map);
}

}  // namespace kernpack::cuda
