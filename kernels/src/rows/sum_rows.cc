// The sum of chosen rows, a vector of columns at a time. Scaled before they are added: the mean of large values is none too large.
#include "row.h"
#include "rows.h"

namespace kk {

template <class Level, class In, class Out>
void SumRows(const In* x, const int64_t* rows, int64_t count, double scale, Out* out, int64_t width) {
  using V = typename Pack<Out>::V;
  const auto factor = static_cast<ComputeType<Out>>(scale);
  ForRow<Out>(width, [&](int64_t i, auto extent) {
    V even = {}, odd = {};
    int64_t k = 0;
    for (; k + 2 <= count; k += 2) {
      even += Get(x + rows[k] * width + i, extent) * factor;
      odd += Get(x + rows[k + 1] * width + i, extent) * factor;
    }
    if (k < count) even += Get(x + rows[k] * width + i, extent) * factor;
    Put(out + i, extent, even + odd);
  });
}

#define KK_INSTANTIATE_PAIR(In, Out) \
  template void SumRows<KP_VARIANT, In, Out>(const In*, const int64_t*, int64_t, double, Out*, int64_t);
#define KK_INSTANTIATE(T) KK_INSTANTIATE_PAIR(T, T)
KK_FLOAT_TYPES(KK_INSTANTIATE)
KK_INSTANTIATE_PAIR(float, Bf16)
KK_INSTANTIATE_PAIR(float, F16)

}  // namespace kk
