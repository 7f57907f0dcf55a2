// Gradients of attention. Weights are computed again from the logarithm of their sum, 120 keys beside 64 queries at a time.
#include "backward.h"

#include "backward_block.h"

namespace kk {

template <class Level, class T>
void AttentionGradientRun(const AttentionGradientArgs<T>& args, const AttentionGradientTask& task, float* d_k,
                          float* d_v, float* memory) {
  RunGradient<T, GradientProducts<T>>(args, task, d_k, d_v, memory);
}

template <class Level, class T>
void AttentionMaskGradientRun(const AttentionGradientArgs<T>& args, const AttentionMaskTask& task, float* sums,
                              float* memory) {
  const AttentionArgs<T>& forward = args.forward;
  float* const of_keys = sums + kQ * kMaskKeys;
  std::fill(of_keys, of_keys + kMaskKeys * kQ, 0.0f);
  GradientBlock<T, FloatGradient<T>> block(args, memory);
  for (int64_t batch = task.batch; batch < task.batch + task.batches; ++batch) {
    for (int64_t head = task.head; head < task.head + task.heads; ++head) {
      for (int64_t b = task.block; b < task.block + task.blocks; ++b) {
        const int64_t count = std::min(kQ, forward.queries - b * kQ);
        block.Set({batch, head, b * kQ, count});
        block.SetKeys(task.key, task.count, Slopes::kOfMask);
        for (int64_t j = 0; j < task.count; ++j) {
          const float* from = block.slopes(j);
          float* to = of_keys + j * kQ;
          ForRow<float>(
              count, [&](int64_t i, auto extent) { Put(to + i, extent, Get(to + i, extent) + Get(from + i, extent)); });
        }
      }
    }
  }
  TransposeMatrix(of_keys, kMaskKeys, kQ, sums);
}

template <class Level, class T>
float AttentionSinkGradient(const AttentionSinkArgs<T>& args, int64_t head) {
  double sum = 0;
  for (int64_t b = 0; b < args.batch; ++b) {
    const float* lse = args.lse + (b * args.heads + head) * args.queries;
    for (int64_t i = 0; i < args.queries; ++i) {
      const int64_t at = ((b * args.queries + i) * args.heads + head) * args.width;
      const T *d_out = args.d_out + at, *out = args.out + at;
      const double delta =
          RowSum<T>(args.width, [&](int64_t d, auto extent) { return Get(d_out + d, extent) * Get(out + d, extent); });
      sum -= std::exp(static_cast<double>(args.sinks[head]) - lse[i]) * delta;
    }
  }
  return static_cast<float>(sum);
}

template <class Level, class T>
void AttentionGradientSum(const float* row, int64_t parts, int64_t stride, T* out, int64_t width) {
  ForRow<T>(width, [&](int64_t d, auto extent) {
    VF sum = {};
    for (int64_t p = 0; p < parts; ++p) sum += Get(row + p * stride + d, extent);
    Put(out + d, extent, sum);
  });
}

#define KK_INSTANTIATE_GRADIENT(T)                                                                                 \
  template void AttentionGradientRun<KP_VARIANT, T>(const AttentionGradientArgs<T>&, const AttentionGradientTask&, \
                                                    float*, float*, float*);                                       \
  template void AttentionGradientSum<KP_VARIANT, T>(const float*, int64_t, int64_t, T*, int64_t);
#if defined(__AVX512BF16__)
KK_INSTANTIATE_GRADIENT(Bf16)
#else
KK_ATTENTION_TYPES(KK_INSTANTIATE_GRADIENT)
#define KK_INSTANTIATE_MASK(T)                                                                                     \
  template void AttentionMaskGradientRun<KP_VARIANT, T>(const AttentionGradientArgs<T>&, const AttentionMaskTask&, \
                                                        float*, float*);
KK_ATTENTION_TYPES(KK_INSTANTIATE_MASK)
#define KK_INSTANTIATE_SINK(T) \
  template float AttentionSinkGradient<KP_VARIANT, T>(const AttentionSinkArgs<T>&, int64_t);
KK_ATTENTION_TYPES(KK_INSTANTIATE_SINK)
#endif

}  // namespace kk
