// sample without sorting or selecting: draw a token, and accept it if top_k and top_p leave it; if not, draw again of those that are before
// it. From "Sorting-free GPU kernels for LLM sampling", flashinfer.ai, March 2025: a second pivot halves what is left, however the draws
// fall. A pass over the row gives the sums for both outcomes, so that a draw takes one pass. Same distribution as sample.cu, other draws.
#include "probabilities.cuh"

namespace kk_cuda {
namespace {

constexpr int kLogitWarps = kLogitThreads / 32;

struct Draw {
  Weight of_warps[kLogitWarps];
  Weight before;  // the thread that was found
  int thread;
};

// The thread at which the sum of the threads' weights reaches *target, and what is left of it there; -1 if they don't reach it. The
// block's threads call it together.
__device__ inline int FindThread(Draw& draw, Weight own, Weight* target) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Weight upto = own, total = 0;
  for (int step = 1; step < 32; step *= 2) {
    const Weight other = __shfl_up_sync(~0u, upto, step);
    if (lane >= step) upto += other;
  }
  __syncthreads();  // what the call before left has been read
  if (lane == 31) draw.of_warps[warp] = upto;
  __syncthreads();
  for (int i = 0; i < kLogitWarps; ++i) {
    if (i < warp) upto += draw.of_warps[i];
    total += draw.of_warps[i];
  }
  if (total < *target) {
    *target -= total;
    return -1;
  }
  if (upto - own < *target && *target <= upto) draw.thread = static_cast<int>(threadIdx.x), draw.before = upto - own;
  __syncthreads();
  *target -= draw.before;
  return draw.thread;
}

// The element at which the sum of the weights reaches `target`: those of the first thread of ForEach() first, then those of the second
// one. own: the sum of this thread's, of those beyond `low`.
template <class T>
__device__ int FindElement(Draw& draw, const Elements& elements, const Probabilities<T>& of, Place low, Weight own,
                           Weight target) {
  const int thread = FindThread(draw, own, &target);
  for (long long begin = thread;; begin += kLogitThreads * kLogitThreads) {  // all threads share that thread's elements
    const auto element = [&](int number) {
      const long long at = begin + kLogitThreads * number;
      if (at >= elements.count) return -1;
      return elements.list == nullptr ? static_cast<int>(at) : elements.list[at];
    };
    const int i = element(static_cast<int>(threadIdx.x));
    const int found = FindThread(draw, i >= 0 && of.PlaceOf(i) > low ? of(i) : 0, &target);
    if (found >= 0) return element(found);
  }
}

// Between two places: in the middle of their values; of neighbours, in the middle of their indices.
__device__ inline Place Halve(Place low, Place high) {
  const Place middle = GetPlace(0.5f * GetValue(low) + 0.5f * GetValue(high), 0);
  return low < middle && middle < high ? middle : low + (high - low) / 2;
}

template <class T>
__device__ Place Choose(const T* row, Place first, const SampleParams& p) {
  __shared__ union {
    Selection<unsigned> counts;
    Draw draw;
  } shared;
  __shared__ ShortList short_list;
  Elements elements = {nullptr, p.width};
  const float largest = GetValue(first);
  if (p.scale == 0 || !isfinite(largest)) return first;
  Probabilities<T> of{row, largest, p.scale, static_cast<float>(largest + p.least), 0};
  bool some = p.top_k > 0 && p.top_k < p.width;
  if (some && p.top_p < 1) {  // top_p is a part of what top_k leaves
    const auto place = [&](int i) { return of.PlaceOf(i); };
    of.last =
        Select(shared.counts, elements, kPlaceBits, static_cast<unsigned>(p.top_k), place, [](int) { return 1u; });
    if (p.top_k <= kShortList) elements = short_list.Of(elements, [&](int i) { return place(i) >= of.last; });
    some = false;
  }
  const Weight most = some ? static_cast<Weight>(p.top_k) : ~Weight{};
  Weight own = 0;  // of the elements that are left to draw from
  elements.ForEach([&](int i) { own += of(i); });
  Weight total = LogitBlock::Sum(own);
  const Weight kept = p.top_p < 1 ? KeptBy(p.top_p, total) : ~Weight{};
  // An element is left if fewer than `most` are before it, of a sum below `kept`. None up to `low` is left, and all from `high` on are.
  Place low = 0, high = first;
  for (unsigned round = 0;; ++round) {
    const Place drawn = of.PlaceOf(FindElement(shared.draw, elements, of, low, own, DrawTarget(p, round, total)));
    if (drawn >= high || (!some && p.top_p >= 1)) return drawn;
    const Place middle = Halve(drawn, high);
    Weight sums[2] = {}, counts[2] = {};  // of those before the one that was drawn, and before the middle
    elements.ForEach([&](int i) {
      const Place place = of.PlaceOf(i);
      if (place <= drawn) return;
      const Weight weight = of(i);
      sums[0] += weight, counts[0] += 1;
      if (place > middle) sums[1] += weight, counts[1] += 1;
    });
    Weight all[4] = {sums[0], sums[1], counts[0], counts[1]};
    LogitBlock::Sum(all);
    if (all[2] < most && all[0] < kept) return drawn;
    if (all[3] < most && all[1] < kept) {
      low = drawn, high = middle, own = sums[0], total = all[0];
    } else {
      low = middle, own = sums[1], total = all[1];
    }
  }
}

template <class T>
__device__ void Sample(const T* logits, int* token, const SampleParams& p) {
  WriteToken(logits, token, p, [&](const T* row, Place first) { return Choose(row, first, p); });
}

}  // namespace
}  // namespace kk_cuda

#define KK_SAMPLE_REJECTION(name, T)                                                  \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kLogitThreads)                \
      sample_rejection_##name(const T* logits, int* token, kk_cuda::SampleParams p) { \
    kk_cuda::Sample(logits, token, p);                                                \
  }
KK_SAMPLE_REJECTION(f32, float)
KK_SAMPLE_REJECTION(f16, __half)
KK_SAMPLE_REJECTION(bf16, __nv_bfloat16)
