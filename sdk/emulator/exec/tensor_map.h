// Tensor maps: 128 bytes that cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col or tensormap.replace writes and cp.async.bulk.tensor reads.
// NVIDIA doesn't say how they're laid out; this is the emulated device's own layout.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_TENSOR_MAP_H_
#define KERNPACK_SDK_EMULATOR_EXEC_TENSOR_MAP_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace kernpack::emulator {

constexpr uint32_t kMostRank = 5;

// How copies go through a tensor: boxes, pixels of a convolution's input (PTX ISA 9.0, 5.5.4), or four rows. The last uses maps of boxes.
enum class TensorMode : uint8_t { kTile, kIm2col, kGather };

struct TensorMap {
  static constexpr uint32_t kMagic = 0x70616d74;

  uint64_t address;
  uint64_t strides[kMostRank - 1];  // bytes, of dimensions 1 to 4
  uint32_t dims[kMostRank];
  uint32_t boxes[kMostRank];
  uint8_t steps[kMostRank];
  uint8_t rank;  // less one, as tensormap.replace gives it
  uint8_t element, interleave, swizzle, fill;  // as tensormap.replace numbers them
  TensorMode mode;
  // Of im2col, whose boxes[0] are the channels of a pixel, and boxes[1] the pixels: the corners of the pixels that a filter's first element
  // meets, in the dimensions between the first and the last. The upper ones count from the last pixel.
  int16_t lower[kMostRank - 2], upper[kMostRank - 2];
  uint8_t reserved[20];
  uint32_t magic;
};
static_assert(sizeof(TensorMap) == 128);

// Types of elements, by the number that tensormap.replace gives them. `reduced`: as atomics name it; of .b types for and, or, xor.
struct TensorElement {
  const char* name;
  uint32_t bytes;
  std::string_view reduced;
  bool is_float;
};
// NULL: there is none, or it's one that isn't emulated.
const TensorElement* FindTensorElement(uint32_t number);

// Why no copy can use the map, in words that go on after "has a tensor map"; empty if one can.
std::string CheckTensorMap(const TensorMap& map);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_TENSOR_MAP_H_
