// Which rows of a tensor each row of a broadcast mask belongs to, and sums over them.
#pragma once

#include <string>
#include <vector>

#include "common/cpu/ops.h"

namespace kk {

// ValueError unless the mask has the tensor's rank, its batch dimensions or 1, and its last one. For masks whose shape the
// signature leaves open.
inline void CheckMask(const char* op, const char* name, kp::ShapeView x, kp::ShapeView mask) {
  bool fits = mask.size() == x.size();
  for (size_t i = 1; fits && i <= mask.size(); ++i) {
    const int64_t size = mask[mask.size() - i];
    fits = size == x[x.size() - i] || (size == 1 && i > 1);
  }
  KP_CHECK(fits, ValueError) << op << ": " << name
                             << ": expected the shape of probs, or 1 in dimensions before the last, got " << mask
                             << " for probs of " << x;
}

// Row (mask_row, k) of the tensor, 0 <= k < repeats(), in an order that depends on the shapes only.
class MaskGroups {
 public:
  MaskGroups(kp::ShapeView x, kp::ShapeView mask) {
    int64_t stride = 1;
    for (size_t i = 2; i <= x.size(); ++i) {  // from the last batch dimension on
      const int64_t size = x[x.size() - i];
      const bool is_kept = i <= mask.size() && mask[mask.size() - i] != 1;
      Extend(is_kept ? &first_ : &step_, size, stride);
      stride *= size;
    }
  }

  int64_t mask_rows() const { return static_cast<int64_t>(first_.size()); }
  int64_t repeats() const { return static_cast<int64_t>(step_.size()); }
  int64_t row(int64_t mask_row, int64_t k) const {
    return first_[static_cast<size_t>(mask_row)] + step_[static_cast<size_t>(k)];
  }

 private:
  // A further dimension, slower than those before it.
  static void Extend(std::vector<int64_t>* offsets, int64_t size, int64_t stride) {
    std::vector<int64_t> inner;  // not a copy: copying a vector asks for a newer libstdc++ than the wheel's
    inner.swap(*offsets);
    for (int64_t i = 0; i < size; ++i) {
      for (const int64_t offset : inner) offsets->push_back(i * stride + offset);
    }
  }

  std::vector<int64_t> first_ = {0}, step_ = {0};
};

// sums[mask row, j]: add(row, sums) adds row `row` of the tensor to the `width` sums of its mask row. Long sums are cut into
// parts by shape, not by thread.
template <class S, class Add>
std::vector<S> SumOverRepeats(const MaskGroups& groups, int64_t width, Add add) {
  const int64_t masks = groups.mask_rows(), repeats = groups.repeats();
  const int64_t most = std::min<int64_t>(16, repeats * width / kElementsPerThread);
  const int64_t parts = std::max<int64_t>(1, masks >= 16 ? 1 : most);
  std::vector<S> sums(static_cast<size_t>(parts * masks * width));
  ForRows(parts * masks, repeats / parts * width, [&](int64_t begin, int64_t end) {
    for (int64_t item = begin; item < end; ++item) {
      const int64_t part = item / masks, mask_row = item % masks;
      for (int64_t k = repeats * part / parts; k < repeats * (part + 1) / parts; ++k) {
        add(groups.row(mask_row, k), sums.data() + item * width);
      }
    }
  });
  const int64_t count = masks * width;
  for (int64_t part = 1; part < parts; ++part) {
    for (int64_t i = 0; i < count; ++i) sums[static_cast<size_t>(i)] += sums[static_cast<size_t>(part * count + i)];
  }
  sums.resize(static_cast<size_t>(count));
  return sums;
}

}  // namespace kk
