// Sums over rows in parts, whose number depends on the shape alone: so a sum is the same on every device and every run.
#pragma once

#include <algorithm>

#include "call.h"
#include "sum_parts.fatbin.h"

namespace kk_cuda {

constexpr kp::DeviceCode kSumParts{
    "sum_parts", "fatbin", {device_code::sum_parts_fatbin, sizeof device_code::sum_parts_fatbin}};
constexpr uint32_t kRowThreads = 128;  // as block.cuh's

inline int64_t SumSize(kp::DType of_rows) { return of_rows == kp::dtype_of<double> ? 8 : 4; }

// At least one part, so that a sum of no rows is written, too. `numbers` of a part lie in memory.
inline int64_t CountParts(int64_t rows, int64_t numbers, int64_t most = 256) {
  return std::clamp<int64_t>(std::min<int64_t>(most, (int64_t{1} << 22) / std::max<int64_t>(numbers, 1)), 1,
                             std::max<int64_t>(rows, 1));
}

// The partial sums of a call: `parts` times `numbers` of them.
class Partial {
 public:
  Partial(kp::TensorView rows, int64_t parts, int64_t numbers)
      : rows_(rows),
        parts_(parts),
        numbers_(numbers),
        size_(SumSize(rows.dtype())),
        memory_(rows.device(), "sums of rows", static_cast<uint64_t>(parts * numbers * size_)) {}

  kp::DeviceMemory memory() const { return From(0); }

  // out = scale * the sum of the parts' numbers from `first` on.
  void SumInto(kp::MutTensorView out, int64_t first = 0, double scale = 1) const {
    const SumPartsParams p = {out.numel(), numbers_, static_cast<int>(parts_), GetKind(out.dtype()), scale};
    if (p.count == 0) return;
    kp::launch(rows_.device(), kSumParts, size_ == 8 ? "sum_parts_f64" : "sum_parts_f32",
               {BlockCount((p.count + 31) / 32)}, {512}, From(first), out, p);
  }

 private:
  kp::DeviceMemory From(int64_t first) const {
    return {memory_.data(), static_cast<uint64_t>(first * size_), static_cast<uint32_t>(size_)};
  }

  kp::TensorView rows_;
  int64_t parts_, numbers_, size_;
  kp::Workspace memory_;
};

}  // namespace kk_cuda
