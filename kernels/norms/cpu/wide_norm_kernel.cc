// First-order rows of any range.
#include <vector>

#include "common/cpu/wide.h"
#include "norm_formulas.h"
#include "common/cpu/values.h"

namespace kk {
namespace {

template <class R, class T>
std::vector<R> Loaded(const T* from, int64_t count) {
  std::vector<R> row(from ? static_cast<size_t>(count) : 0);
  if (from) LoadRow(from, count, row.data());
  return row;
}

template <class R>
const R* OrNull(const std::vector<R>& row) {
  return row.empty() ? nullptr : row.data();
}

template <class R, class S>
void AddTo(const std::vector<R>& from, S* to) {
  for (size_t i = 0; i < from.size(); ++i) to[i] = static_cast<S>(to[i] + from[i]);
}

}  // namespace

template <class Formula, class T>
void WideForwardRow(const NormArgs<T>& args, int64_t row) {
  using R = Wide<T>;
  const auto x = Loaded<R>(args.x + row * args.width, args.width);
  const auto weight = Loaded<R>(args.weight, args.width), bias = Loaded<R>(args.bias, args.width);
  std::vector<R> out(x.size());
  Formula::template Forward<R>({x.data(), OrNull(weight), OrNull(bias), nullptr, args.width, args.eps}, out.data());
  StoreRow(out.data(), args.width, args.out + row * args.width);
}

template <class Formula, class T>
void WideBackwardRow(const NormBackwardArgs<T>& args, int64_t row) {
  using R = Wide<T>;
  const auto x = Loaded<R>(args.x + row * args.width, args.width);
  const auto d_out = Loaded<R>(args.d_out + row * args.width, args.width);
  const auto weight = Loaded<R>(args.weight, args.width);
  std::vector<R> d_x(x.size()), d_weight(args.d_weight ? x.size() : 0), d_bias(args.d_bias ? x.size() : 0);
  Formula::template Backward<R>({x.data(), OrNull(weight), nullptr, d_out.data(), args.width, args.eps}, d_x.data(),
                                args.d_weight ? d_weight.data() : nullptr, args.d_bias ? d_bias.data() : nullptr);
  StoreRow(d_x.data(), args.width, args.d_x + row * args.width);
  AddTo(d_weight, args.d_weight);
  AddTo(d_bias, args.d_bias);
}

#define KK_INSTANTIATE_FORMULA(Formula, T)                               \
  template void WideForwardRow<Formula, T>(const NormArgs<T>&, int64_t); \
  template void WideBackwardRow<Formula, T>(const NormBackwardArgs<T>&, int64_t);
#define KK_INSTANTIATE(T)                     \
  KK_INSTANTIATE_FORMULA(LayerNormFormula, T) \
  KK_INSTANTIATE_FORMULA(RmsNormFormula, T)   \
  KK_INSTANTIATE_FORMULA(L2NormalizeFormula, T)
KK_FLOAT_TYPES(KK_INSTANTIATE)

}  // namespace kk
