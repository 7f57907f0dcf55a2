#include "exec/tensor_map.h"

#include <iterator>

#include "exec/fault.h"

namespace kernpack::emulator {
namespace {

constexpr TensorElement kTensorElements[] = {
    {"u8", 1, "", false},         {"u16", 2, "", false},    {"u32", 4, "u32", false},  {"s32", 4, "s32", false},
    {"u64", 8, "u64", false},     {"s64", 8, "s64", false}, {"f16", 2, "f16", true},   {"f32", 4, "f32", true},
    {"f32.ftz", 4, "f32", true},  {"f64", 8, "f64", true},  {"bf16", 2, "bf16", true}, {"tf32", 4, "f32", true},
    {"tf32.ftz", 4, "f32", true},
};
constexpr uint32_t kMostSwizzle = 3, kMostBox = 256, kMostPixels = 1024, kMostStep = 8, kMapUnit = 16;

// Checks the fields that only maps of im2col have.
std::string CheckPixels(const TensorMap& map) {
  if (map.rank < 2) return Text("of im2col with %u dimensions; there are 3 to 5", map.rank + 1U);
  if (map.boxes[1] == 0 || map.boxes[1] > kMostPixels)
    return Text("of im2col that copies %u pixels; there may be 1 to 1024", map.boxes[1]);
  const int most = 1 << (map.rank == 2 ? 15 : map.rank == 3 ? 7 : 4);  // 16 bits, divided among the dimensions
  for (uint32_t d = 0; d + 1 < map.rank; ++d) {
    for (const int corner : {map.lower[d], map.upper[d]}) {
      if (corner < -most || corner >= most) {
        return Text("of im2col with a corner at %d in dimension %u; there may be %d to %d with %u dimensions", corner,
                    d + 1, -most, most - 1, map.rank + 1U);
      }
    }
  }
  return "";
}

unsigned long long AsLong(uint64_t value) { return value; }

}  // namespace

const TensorElement* FindTensorElement(uint32_t number) {
  return number < std::size(kTensorElements) ? kTensorElements + number : nullptr;
}

std::string CheckTensorMap(const TensorMap& map) {
  if (map.magic != TensorMap::kMagic) return "that neither cuTensorMapEncodeTiled nor tensormap.replace has written";
  const TensorElement* const element = FindTensorElement(map.element);
  if (element == nullptr) return Text("with elements of type %u, which isn't emulated", map.element);
  if (map.interleave != 0) return "with interleaved elements, which aren't emulated";
  if (map.swizzle > kMostSwizzle)
    return Text("with swizzle %u; there are 0 to 3 here: none, 32, 64 and 128 bytes", map.swizzle);
  if (map.rank >= kMostRank) return Text("of %u dimensions; there are 1 to 5", map.rank + 1U);
  if (map.address % kMapUnit != 0)
    return Text("of memory at 0x%llx, which is not a multiple of 16", AsLong(map.address));
  if (map.fill > 1 || (map.fill == 1 && !element->is_float))
    return Text("that fills with %s outside of the tensor, which elements of type .%s don't have",
                map.fill == 1 ? "NaN" : "an unknown value", element->name);
  const bool pixels = map.mode == TensorMode::kIm2col;
  if (pixels) {
    if (std::string wrong = CheckPixels(map); !wrong.empty()) return wrong;
  }
  for (uint32_t d = 0; d <= map.rank; ++d) {
    if (map.dims[d] == 0) return Text("whose dimension %u has no elements", d);
    if ((d == 0 || !pixels) && (map.boxes[d] == 0 || map.boxes[d] > kMostBox))
      return Text("whose box has %u elements in dimension %u; there may be 1 to 256", map.boxes[d], d);
    if (map.steps[d] == 0 || map.steps[d] > kMostStep)
      return Text("whose element stride in dimension %u is %u; there may be 1 to 8", d, map.steps[d]);
    if (d != 0 && (map.strides[d - 1] % kMapUnit != 0 || map.strides[d - 1] >> 40 != 0))
      return Text("whose stride in dimension %u is %llu bytes; expected a multiple of 16 below 2^40", d,
                  AsLong(map.strides[d - 1]));
  }
  const uint32_t inner = map.boxes[0] * element->bytes;
  if (inner % kMapUnit != 0) return Text("whose box has rows of %u bytes, which is not a multiple of 16", inner);
  if (map.swizzle != 0 && inner > kMapUnit << map.swizzle)
    return Text("whose box has rows of %u bytes, more than its swizzle of %u bytes", inner, kMapUnit << map.swizzle);
  return "";
}

}  // namespace kernpack::emulator
