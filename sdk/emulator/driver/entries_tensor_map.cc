// Tensor maps of the host.
#include <algorithm>
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

}  // namespace

Result cuTensorMapEncodeTiled(void* map, TensorMapType type, unsigned rank, void* address,
                              const unsigned long long* dims, const unsigned long long* strides, const unsigned* box,
                              const unsigned* steps, TensorMapInterleave interleave, TensorMapSwizzle swizzle,
                              TensorMapPromotion /*promotion*/, TensorMapFill fill) {
  if (map == nullptr || reinterpret_cast<uintptr_t>(map) % kMapAlign != 0) return kInvalidValue;
  if (type < 0 || type >= static_cast<int>(std::size(kElements)) || rank < 1 || rank > emulator::kMostRank)
    return kInvalidValue;
  if (dims == nullptr || box == nullptr || steps == nullptr || (rank > 1 && strides == nullptr)) return kInvalidValue;
  if (interleave != 0 || swizzle < 0 || swizzle > 3 || fill < 0 || fill > 1) return kInvalidValue;
  emulator::TensorMap out{};
  out.address = reinterpret_cast<uintptr_t>(address);
  out.rank = static_cast<uint8_t>(rank - 1);
  out.element = kElements[type];
  out.swizzle = static_cast<uint8_t>(swizzle);
  out.fill = static_cast<uint8_t>(fill);
  out.magic = emulator::TensorMap::kMagic;
  for (unsigned d = 0; d < rank; ++d) {
    if (dims[d] > kMostExtent) return kInvalidValue;
    out.dims[d] = static_cast<uint32_t>(std::min<uint64_t>(dims[d], kMostExtent - 1));
    out.boxes[d] = box[d];
    out.steps[d] = static_cast<uint8_t>(std::min(steps[d], 255U));
    if (d + 1 < rank) out.strides[d] = strides[d];
  }
  if (!CheckTensorMap(out).empty()) return kInvalidValue;
  std::memcpy(map, &out, sizeof out);
  return kSuccess;
}

}  // namespace kernpack::cuda
