// The mean of chosen rows, a few vectors of columns at a time.
#include "row.h"
#include "rows.h"

namespace kk {

template <class Level, class T>
void MeanOfTokens(const T* x, const int64_t* kept, int64_t count, T* out, int64_t width) {
  using P = Pack<T>;
  const ComputeType<T> scale = static_cast<ComputeType<T>>(count ? 1.0 / static_cast<double>(count) : 0.0);
  const auto columns = [&](int64_t i, auto extent) {
    typename P::V even = {}, odd = {};
    int64_t s = 0;
    for (; s + 2 <= count; s += 2) {
      even += Get(x + kept[s] * width + i, extent);
      odd += Get(x + kept[s + 1] * width + i, extent);
    }
    if (s < count) even += Get(x + kept[s] * width + i, extent);
    Put(out + i, extent, (even + odd) * scale);
  };
  ForRow<T>(width, columns);
}

#define KK_INSTANTIATE(T) template void MeanOfTokens<KP_VARIANT, T>(const T*, const int64_t*, int64_t, T*, int64_t);
KK_FLOAT_TYPES(KK_INSTANTIATE)

}  // namespace kk
