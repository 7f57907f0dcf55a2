// softmax with an optional mask: a block per row, which it reads twice. The largest element and the sum of exponentials are formed in one
// pass, the sum being scaled whenever a larger element comes (M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax").
#include "numbers.cuh"

namespace kk_cuda {
namespace {

constexpr int kThreads = 128;

template <class S>
__device__ S Lowest() {
  return -static_cast<S>(INFINITY);
}

// The largest of some elements, and the sum of exp(element - largest). Nothing kept: -inf and 0. A NaN stays one.
template <class S>
struct Tail {
  S largest, sum;

  __device__ void Add(const Tail& other) {
    const S most = largest > other.largest || largest != largest ? largest : other.largest;
    if (most == Lowest<S>()) return;  // exp(-inf - -inf) would be a NaN
    sum = sum * exp(largest - most) + other.sum * exp(other.largest - most);
    largest = most;
  }
};

template <class S>
__device__ Tail<S> BlockTail(Tail<S> mine) {
  __shared__ Tail<S> tails[kThreads / 32];
  for (int i = 16; i > 0; i /= 2) {
    mine.Add({__shfl_xor_sync(~0u, mine.largest, i), __shfl_xor_sync(~0u, mine.sum, i)});
  }
  if (threadIdx.x % 32 == 0) tails[threadIdx.x / 32] = mine;
  __syncthreads();
  Tail<S> total = tails[0];
  for (int i = 1; i < kThreads / 32; ++i) total.Add(tails[i]);
  return total;
}

template <class T>
__device__ void Softmax(const T* x, const void* mask, T* out, const SoftmaxParams& p) {
  using S = Compute<T>;
  const long long row = blockIdx.x, at = row * p.width, masks = p.kind == kUnmasked ? 0 : RowOffset(p.mask, row);
  const auto get = [&](int i) {
    const S value = Number(x[at + i]);
    if (p.kind == kAdded) return value + NumberAt<S>(p.added, mask, masks + i);
    return p.kind == kKept && !static_cast<const bool*>(mask)[masks + i] ? Lowest<S>() : value;
  };
  Tail<S> mine = {Lowest<S>(), 0};
  for (int i = threadIdx.x; i < p.width; i += kThreads) mine.Add({get(i), 1});
  const Tail<S> total = BlockTail(mine);
  for (int i = threadIdx.x; i < p.width; i += kThreads) {
    Put(total.sum == 0 ? S{0} : exp(get(i) - total.largest) / total.sum, out + at + i);
  }
}

}  // namespace
}  // namespace kk_cuda

#define KK_SOFTMAX(name, T)                                                            \
  extern "C" __global__ void __launch_bounds__(128)                                    \
      softmax_##name(const T* x, const void* mask, T* out, kk_cuda::SoftmaxParams p) { \
    kk_cuda::Softmax(x, mask, out, p);                                                 \
  }
KK_SOFTMAX(f32, float)
KK_SOFTMAX(f64, double)
KK_SOFTMAX(f16, __half)
KK_SOFTMAX(bf16, __nv_bfloat16)
