// The box of a tensor that one copy moves: also the pixels of im2col, and the rows of gather4.
#ifndef KERNPACK_SDK_EMULATOR_EXEC_TENSOR_BOX_H_
#define KERNPACK_SDK_EMULATOR_EXEC_TENSOR_BOX_H_

#include <algorithm>
#include <cstdint>

#include "exec/tensor_map.h"
#include "exec/warp.h"
#include "program/program.h"

namespace kernpack::emulator {

// Neighbouring elements of the box, of dimension 0. The tensor has those from `first` to `last`; others lie outside of it.
struct TensorRow {
  uint32_t offset;  // in the box, bytes
  uint64_t address;  // of element `first`
  uint32_t first, last;
};

class TensorBox {
 public:
  // Reads the lane's tensor map and coordinates. Throws Fault where no copy can use them.
  TensorBox(Warp* warp, const Instruction& instruction, uint32_t lane);

  const TensorMap& map() const { return map_; }
  const TensorElement& element() const { return *element_; }
  uint32_t bytes() const { return bytes_; }
  uint32_t row_bytes() const { return counts_[0] * element_->bytes; }

  template <class F>
  void ForRows(F use) const {
    if (mode_ == TensorMode::kIm2col) return ForPixels(use);
    uint32_t index[kMostRank] = {};
    for (uint32_t offset = 0; offset < bytes_; offset += row_bytes()) {
      int64_t at[kMostRank];
      for (uint32_t d = 1; d < rank_; ++d) at[d] = at_[d] + int64_t{index[d]} * map_.steps[d];
      if (mode_ == TensorMode::kGather) at[1] = at_[1 + index[1]];
      use(Row(offset, at));
      for (uint32_t d = 1; d < rank_ && ++index[d] == counts_[d]; ++d) index[d] = 0;
    }
  }
  // Where the unit of 16 bytes lies that is the box's at `offset`, if the box begins at `begin` of shared memory; from there.
  uint64_t Place(uint64_t begin, uint32_t offset) const;
  // The memory of `bytes` bytes of the tensor, or a Fault.
  uint8_t* Global(uint64_t address, uint32_t bytes, bool writes) const;
  // The value of elements outside of the tensor.
  uint64_t Fill() const;

 private:
  Warp& warp_;
  const Instruction& instruction_;
  const uint32_t lane_;
  TensorMap map_;
  const TensorElement* element_ = nullptr;
  TensorMode mode_ = TensorMode::kTile;
  uint32_t rank_ = 0, bytes_ = 0;
  int64_t at_[kMostRank] = {};
  int64_t offsets_[kMostRank] = {};  // of im2col
  uint32_t counts_[kMostRank] = {1, 1, 1, 1, 1};  // elements of the box

  // `at`: where the row is in dimensions 1 and up.
  TensorRow Row(uint32_t offset, const int64_t* at) const;
  // From pixel to pixel by the strides, from each corner to the other one in every dimension but the last; the offsets lead from there to
  // the pixel that a filter's other element meets.
  template <class F>
  void ForPixels(F use) const {
    int64_t pixel[kMostRank], at[kMostRank];
    std::copy(at_, at_ + kMostRank, pixel);
    for (uint32_t offset = 0; offset < bytes_; offset += row_bytes()) {
      for (uint32_t d = 1; d < rank_; ++d) at[d] = pixel[d] + offsets_[d];
      use(Row(offset, at));
      for (uint32_t d = 1; d < rank_; ++d) {
        pixel[d] += map_.steps[d];
        if (d + 1 == rank_ || pixel[d] < int64_t{map_.dims[d]} + map_.upper[d - 1]) break;
        pixel[d] = map_.lower[d - 1];
      }
    }
  }
};

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_EXEC_TENSOR_BOX_H_
