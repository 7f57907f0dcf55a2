// argmax and sample: a block per row.
#include "probabilities.cuh"

namespace kk_cuda {
namespace {

template <class T>
__device__ void Argmax(const T* x, int* index, int width) {
  const Place first = FindFirst(x + static_cast<long long>(blockIdx.x) * width, width);
  if (threadIdx.x == 0) index[blockIdx.x] = GetIndex(first);
}

template <class T>
__device__ Place Choose(const T* row, Place first, const SampleParams& p) {
  __shared__ union {
    Selection<unsigned> counts;
    Selection<Weight> sums;
  } shared;
  __shared__ ShortList short_list;
  Elements elements = {nullptr, p.width};
  const float largest = GetValue(first);
  if (p.scale == 0 || !isfinite(largest)) return first;
  Probabilities<T> of{row, largest, p.scale, static_cast<float>(largest + p.least), 0};
  const auto place = [&](int i) { return of.PlaceOf(i); };
  const bool some = p.top_k > 0 && p.top_k < p.width;
  if (some) {
    of.last =
        Select(shared.counts, elements, kPlaceBits, static_cast<unsigned>(p.top_k), place, [](int) { return 1u; });
    if (p.top_k <= kShortList) elements = short_list.Of(elements, [&](int i) { return place(i) >= of.last; });
  }
  Weight total = of.Sum(elements);
  if (p.top_p < 1) {
    of.last = max(of.last, Select(shared.sums, elements, kPlaceBits, KeptBy(p.top_p, total), place, of));
    total = of.Sum(elements);
  }
  const Weight target = DrawTarget(p, 0, total);
  if (some || p.top_p < 1 || p.least > -INFINITY) {
    return Select(shared.sums, elements, kPlaceBits, target, place, of);
  }
  // All are left: as they lie, which takes fewer digits.
  const int last = p.width - 1;
  const Place chosen = Select(
      shared.sums, elements, max(32 - __clz(last), 1), target, [&](int i) { return static_cast<Place>(last - i); }, of);
  return GetPlace(0, last - static_cast<int>(chosen));
}

template <class T>
__device__ void Sample(const T* logits, int* token, const SampleParams& p) {
  WriteToken(logits, token, p, [&](const T* row, Place first) { return Choose(row, first, p); });
}

}  // namespace
}  // namespace kk_cuda

#define KK_SAMPLE(name, T)                                                  \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kLogitThreads)      \
      argmax_##name(const T* x, int* index, int width) {                    \
    kk_cuda::Argmax(x, index, width);                                       \
  }                                                                         \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kLogitThreads)      \
      sample_##name(const T* logits, int* token, kk_cuda::SampleParams p) { \
    kk_cuda::Sample(logits, token, p);                                      \
  }
KK_SAMPLE(f32, float)
KK_SAMPLE(f16, __half)
KK_SAMPLE(bf16, __nv_bfloat16)
