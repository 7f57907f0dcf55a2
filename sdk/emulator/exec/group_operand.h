// A matrix in shared memory as a descriptor of wgmma describes it.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_GROUP_OPERAND_H_
#define KERNPACK_SDK_EMULATOR_EXEC_GROUP_OPERAND_H_

#include <cstdint>

namespace kernpack::emulator {

// Swizzles of 32, 64 and 128 bytes, 1, 2 and 3 here, exchange units of 16 bytes: bits 4 and up are combined with bits 7 and up.
inline uint64_t Swizzled(uint64_t address, uint32_t swizzle) {
  return address ^ ((address >> 7 & ((1U << swizzle) - 1)) << 4);
}

// Rows are those of A, or columns of B; each has 32 bytes along K.
class GroupOperand {
 public:
  static constexpr uint32_t kUnit = 16;  // bytes that lie together in every layout

  GroupOperand(uint64_t descriptor, bool transposed, uint32_t element_bytes)
      : start_(Field(descriptor, 0)),
        leading_(Field(descriptor, 16)),
        stride_(Field(descriptor, 32)),
        swizzle_(descriptor >> 62 == 0 ? 0 : static_cast<uint32_t>(4 - (descriptor >> 62))),
        transposed_(transposed),
        element_bytes_(element_bytes) {}

  // The base offset, which only matrices need that don't begin at a multiple of the swizzle's pattern.
  static uint32_t GetBaseOffset(uint64_t descriptor) { return descriptor >> 49 & 7; }

  // Calls `use(address, row, k)` for each unit of `rows` rows from `first` on. Its elements are neighbours along K; along the rows if
  // the matrix is transposed.
  template <class F>
  void ForUnits(uint32_t first, uint32_t rows, uint32_t depth, F use) const {
    const uint32_t each = kUnit / element_bytes_;
    if (transposed_) {
      for (uint32_t k = 0; k < depth; ++k) {
        for (uint32_t row = first; row < first + rows; row += each) use(AlongRows(row, k), row, k);
      }
      return;
    }
    for (uint32_t row = first; row < first + rows; ++row) {
      for (uint32_t k = 0; k < depth; k += each) use(AlongK(row, k), row, k);
    }
  }
  bool transposed() const { return transposed_; }
  uint32_t swizzle() const { return swizzle_; }

 private:
  uint64_t start_, leading_, stride_;
  uint32_t swizzle_;
  bool transposed_;
  uint32_t element_bytes_;

  static uint64_t Field(uint64_t descriptor, int at) { return (descriptor >> at & 0x3fff) << 4; }
  uint64_t Pitch() const { return uint64_t{kUnit} << swizzle_; }

  uint64_t AlongK(uint32_t row, uint32_t k) const {
    const uint64_t unit = k * element_bytes_ / kUnit;
    const uint64_t step = swizzle_ == 0 ? leading_ : kUnit;
    return Swizzled(start_ + row % 8 * Pitch() + row / 8 * stride_ + unit * step, swizzle_);
  }
  uint64_t AlongRows(uint32_t row, uint32_t k) const {
    const uint64_t unit = uint64_t{row} * element_bytes_ / kUnit, wide = uint64_t{1} << swizzle_;
    const uint64_t offset = swizzle_ == 0 ? unit * stride_ + k / 8 * leading_
                                          : unit % wide * kUnit + unit / wide * leading_ + k / 8 * stride_;
    return Swizzled(start_ + offset + k % 8 * Pitch(), swizzle_);
  }
};

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_GROUP_OPERAND_H_
