// Which scores count and what becomes of them: shared by the forward and the backward pass.
#pragma once

#include "../rows/math.h"
#include "../rows/row.h"
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

inline VF Tanh(VF x) {
  const VF e = Exp(-2 * Abs(x));
  const VF t = (1 - e) / (1 + e);
  return x < VF{} ? -t : t;
}

// How many keys an item of the batch has.
template <class T>
int64_t LengthOf(const AttentionArgs<T>& args, int64_t batch) {
  return args.lengths ? std::clamp<int64_t>(args.lengths[batch], 0, args.keys) : args.keys;
}

}  // namespace
}  // namespace kk
