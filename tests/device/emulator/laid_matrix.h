// Matrices in shared memory, laid out as the PTX manual draws them, and their descriptors.
#ifndef KERNPACK_TESTS_DEVICE_EMULATOR_LAID_MATRIX_H_
#define KERNPACK_TESTS_DEVICE_EMULATOR_LAID_MATRIX_H_

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#define KP_ISA Plain
#include "ops/small_float.h"

namespace kernpack::emulator {

enum class Is : uint8_t { kF16, kBf16, kTf32, kE4m3, kE5m2, kS8, kU8 };
struct Kind {
  const char* name;
  uint32_t bytes;
};
inline Kind GetKind(Is of) {
  constexpr Kind kKinds[] = {{"f16", 2}, {"bf16", 2}, {"tf32", 4}, {"e4m3", 1}, {"e5m2", 1}, {"s8", 1}, {"u8", 1}};
  return kKinds[static_cast<int>(of)];
}

// The bits of a whole number. tf32's lower bits are rubbish, which doesn't count.
inline uint32_t Encode(Is of, int value, uint32_t rubbish) {
  switch (of) {
    case Is::kF16:
      return Plain::Half::Write(value);
    case Is::kBf16:
      return Plain::Brain::Write(value);
    case Is::kTf32:
      return std::bit_cast<uint32_t>(static_cast<float>(value)) | (rubbish & 0x1fff);
    case Is::kE4m3:
      return Plain::E4m3::Write(value);
    case Is::kE5m2:
      return Plain::E5m2::Write(value);
    default:
      return static_cast<uint8_t>(value);
  }
}

// A matrix in shared memory: rows of M or N, along which `steps` products go.
struct Laid {
  std::vector<uint8_t> image;
  std::vector<uint64_t> descriptors;  // of each product
};

inline uint32_t PatternOf(uint32_t swizzle, uint32_t line) {  // what a unit's number is combined with, in line 0 to 7
  return swizzle == 128 ? line : swizzle == 64 ? line / 2 : swizzle == 32 ? line / 4 : 0;
}

inline uint64_t Describe(uint64_t start, uint64_t leading, uint64_t stride, uint32_t swizzle) {
  const uint64_t mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | mode << 62;
}

// `get(row, k)` are the bits. K has 32 bytes for each product.
template <class F>
Laid Lay(uint64_t begin, uint32_t rows, uint32_t steps, uint32_t bytes, uint32_t swizzle, bool transposed, F get) {
  const uint32_t each = 32 / bytes, depth = steps * each;
  Laid out;
  out.image.resize(size_t{rows + 64} * depth * bytes * 2 + 4096);
  const auto put = [&](uint64_t at, uint32_t bits) { std::memcpy(out.image.data() + at, &bits, bytes); };
  const uint32_t wide = swizzle == 0 ? 16 : swizzle;  // bytes of a line of a pattern
  const uint64_t block = 8 * wide;
  if (!transposed) {
    const uint32_t across = depth * bytes / wide;  // patterns along K
    const uint64_t next_rows = block * across;
    for (uint32_t r = 0; r < rows; ++r) {
      for (uint32_t k = 0; k < depth; ++k) {
        const uint32_t byte = k * bytes, unit = byte % wide / 16;
        put(r / 8 * next_rows + byte / wide * block + r % 8 * wide + (unit ^ PatternOf(swizzle, r % 8)) * 16 +
                byte % 16,
            get(r, k));
      }
    }
    for (uint32_t s = 0; s < steps; ++s) {
      const uint64_t byte = s * 32;
      out.descriptors.push_back(
          Describe(begin + byte / wide * block + byte % wide, swizzle == 0 ? block : 16, next_rows, swizzle));
    }
    return out;
  }
  const uint32_t in_unit = 16 / bytes, in_line = wide / bytes,
                 blocks = (rows + in_line - 1) / in_line;  // patterns along the rows
  for (uint32_t r = 0; r < rows; ++r) {
    for (uint32_t k = 0; k < depth; ++k) {
      const uint32_t unit = r % in_line / in_unit;
      put(k / 8 * block * blocks + r / in_line * block + k % 8 * wide + (unit ^ PatternOf(swizzle, k % 8)) * 16 +
              r % in_unit * bytes,
          get(r, k));
    }
  }
  for (uint32_t s = 0; s < steps; ++s) {
    const uint64_t along_k = block * blocks, along_rows = block, start = begin + s * (each / 8) * along_k;
    out.descriptors.push_back(swizzle == 0 ? Describe(start, along_k, along_rows, 0)
                                           : Describe(start, along_rows, along_k, swizzle));
  }
  return out;
}

inline std::string ListRegisters(const char* name, size_t count) {
  std::string out = "{";
  for (size_t i = 0; i < count; ++i) out += (i == 0 ? "%" : ", %") + (name + std::to_string(i));
  return out + "}";
}

}  // namespace kernpack::emulator

#endif  // KERNPACK_TESTS_DEVICE_EMULATOR_LAID_MATRIX_H_
