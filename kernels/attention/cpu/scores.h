// Which scores count and what becomes of them: shared by the forward and the backward pass.
#pragma once

#include "common/cpu/math.h"
#include "common/cpu/row.h"
#include "attention.h"

namespace kk {
namespace {

// The keys [first, last) that a query sees.
struct Seen {
  int64_t first, last;
};

template <class T>
Seen SeenBy(const AttentionArgs<T>& args, int64_t keys, int64_t query) {
  const int64_t at = args.causal ? keys - args.queries + query + 1 : keys;
  const int64_t last = std::clamp<int64_t>(at, 0, keys);
  return {args.window > 0 ? std::max<int64_t>(0, at - args.window) : 0, last};
}

// Within 4 ulp. 1 - e would lose the digits of a small x, which a large soft cap brings back; there a fitted polynomial is used.
inline VF Tanh(VF x) {
  const VF size = Abs(x), e = Exp(-2 * size), square = x * x;
  const VF t = (1 - e) / (1 + e);
  const VF odd = Polynomial(square, -5.70498872745e-3f, 2.06390887954e-2f, -5.37397155531e-2f, 1.33314422036e-1f,
                            -3.33332819422e-1f, 0.0f);
  return size < Splat(0.625f) ? x + x * odd : x < VF{} ? -t : t;
}

// How many keys an item of the batch has.
template <class T>
int64_t GetLength(const AttentionArgs<T>& args, int64_t batch) {
  return args.lengths ? args.lengths[batch] : args.keys;
}

}  // namespace
}  // namespace kk
