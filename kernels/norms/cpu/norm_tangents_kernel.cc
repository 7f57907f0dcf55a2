#include "norm_tangents.h"

#include <kernpack/kernel.h>

#include <algorithm>

#include "norm_formulas.h"
#include "common/cpu/values.h"

namespace kk {
namespace {

template <class T>
const T* At(const T* tensor, int64_t offset) {
  return tensor ? tensor + offset : nullptr;
}

// The memory in which one thread works on a row at a time.
template <class Formula, class T>
class Worker {
 public:
  using R = Wide<T>;
  using N = Dual<R>;

  explicit Worker(const NormTangentArgs<T>& args) : args_(args), rows_(static_cast<size_t>(args.width * 6)) {
    LoadRow(args.weight, args.t_weight, args.width, Row(0));
    LoadRow<R, double>(nullptr, args.t_bias, args.width, Row(1));
  }

  // d_weight and d_bias are added to.
  void Run(int64_t row, N* d_weight, N* d_bias) {
    const int64_t at = row * args_.width;
    LoadRow(args_.x + at, At(args_.t_x, at), args_.width, Row(2));
    const NormRow<N> forward = {Row(2), Row(0), Row(1), nullptr, args_.width, args_.eps};
    if (args_.t_out) {
      Formula::Forward(forward, Row(3));
      StoreTangents(Row(3), args_.width, args_.t_out + at);
    }
    if (args_.t_d_x) {
      LoadRow(args_.d_out + at, At(args_.t_d_out, at), args_.width, Row(4));
      NormRow<N> backward = forward;
      backward.d_out = Row(4);
      Formula::Backward(backward, Row(5), d_weight, d_bias);
      StoreTangents(Row(5), args_.width, args_.t_d_x + at);
    }
  }

 private:
  N* Row(int64_t index) { return rows_.data() + index * args_.width; }

  const NormTangentArgs<T>& args_;
  std::vector<N> rows_;
};

}  // namespace

template <class Formula, class T>
void NormTangents(const NormTangentArgs<T>& args) {
  using N = typename Worker<Formula, T>::N;
  double* const sums_of[] = {args.t_d_weight, args.t_d_bias};
  const int64_t width = args.width, parts = std::clamp<int64_t>(args.rows * width / (1 << 12), 1, 16);
  std::vector<N> sums(static_cast<size_t>(args.t_d_weight ? parts * 2 * width : 0));
  kernpack::parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    Worker<Formula, T> worker(args);
    for (int64_t p = begin; p < end; ++p) {
      N* const d_weight = args.t_d_weight ? sums.data() + p * 2 * width : nullptr;
      N* const d_bias = args.t_d_bias ? d_weight + width : nullptr;
      for (int64_t row = args.rows * p / parts; row < args.rows * (p + 1) / parts; ++row) {
        worker.Run(row, d_weight, d_bias);
      }
    }
  });
  for (int k = 0; k < 2; ++k) {
    for (int64_t i = 0; sums_of[k] && i < width; ++i) {
      N total;
      for (int64_t p = 0; p < parts; ++p) total += sums[static_cast<size_t>((p * 2 + k) * width + i)];
      sums_of[k][i] = static_cast<double>(total.tangent);
    }
  }
}

#define KK_INSTANTIATE(T)                                                     \
  template void NormTangents<LayerNormFormula, T>(const NormTangentArgs<T>&); \
  template void NormTangents<RmsNormFormula, T>(const NormTangentArgs<T>&);   \
  template void NormTangents<L2NormalizeFormula, T>(const NormTangentArgs<T>&);
KK_FLOAT_TYPES(KK_INSTANTIATE)

}  // namespace kk
