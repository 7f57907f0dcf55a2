// Steps of AdamW, Lion and SGD: a block per run of a tensor. Step and learning rate lie in the device's memory, so that the host never
// waits, and a captured graph takes new ones.
#include "runs.cuh"

namespace kk_cuda {
namespace {

__device__ inline float Lerp(float a, float b, float t) { return a + (b - a) * t; }

// 1 - beta^step.
__device__ inline float Correction(double log_beta, int step) { return -expm1f(static_cast<float>(log_beta * step)); }

template <class T>
__device__ void Adamw(const ListPart& list, const int* step, const float* lr, const AdamwParams& p) {
  const Run run(list);
  T* const param = run.Of<T>(list, 0);
  const T* const grad = run.Of<T>(list, 1);
  float *const mean = run.Of<float>(list, 2), *const square = run.Of<float>(list, 3);
  const float keep = 1 - *lr * p.weight_decay, rate = *lr / Correction(p.log_beta1, *step);
  const float root_correction = 1 / sqrtf(Correction(p.log_beta2, *step));
  ForNumbers(list, run, [&](long long at, auto extent) {
    constexpr int kCount = decltype(extent)::kNumbers;
    float w[kCount], g[kCount], m[kCount], v[kCount];
    Convert(w, param + at), Convert(g, grad + at), Convert(m, mean + at), Convert(v, square + at);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      m[i] = Lerp(m[i], g[i], 1 - p.beta1);
      v[i] = Lerp(v[i], g[i] * g[i], 1 - p.beta2);
      w[i] = w[i] * keep - rate * m[i] / (sqrtf(v[i]) * root_correction + p.eps);
    }
    StoreNumbers(w, param + at), StoreNumbers(m, mean + at), StoreNumbers(v, square + at);
  });
}

template <class T>
__device__ void Lion(const ListPart& list, const float* lr, const LionParams& p) {
  const Run run(list);
  T* const param = run.Of<T>(list, 0);
  const T* const grad = run.Of<T>(list, 1);
  float* const mean = run.Of<float>(list, 2);
  const float rate = *lr, keep = 1 - rate * p.weight_decay;
  ForNumbers(list, run, [&](long long at, auto extent) {
    constexpr int kCount = decltype(extent)::kNumbers;
    float w[kCount], g[kCount], m[kCount];
    Convert(w, param + at), Convert(g, grad + at), Convert(m, mean + at);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      const float u = Lerp(m[i], g[i], 1 - p.beta1);
      const float sign = u > 0 ? 1.f : u < 0 ? -1.f : u;  // zeros and NaNs as they are
      m[i] = Lerp(m[i], g[i], 1 - p.beta2);
      w[i] = w[i] * keep - rate * sign;
    }
    StoreNumbers(w, param + at), StoreNumbers(m, mean + at);
  });
}

template <class T>
__device__ void Sgd(const ListPart& list, const float* lr, const SgdParams& p) {
  const Run run(list);
  T* const param = run.Of<T>(list, 0);
  const T* const grad = run.Of<T>(list, 1);
  float* const momentum = run.Of<float>(list, 2);
  const float rate = *lr;
  ForNumbers(list, run, [&](long long at, auto extent) {
    constexpr int kCount = decltype(extent)::kNumbers;
    float w[kCount], g[kCount], m[kCount];
    Convert(w, param + at), Convert(g, grad + at), Convert(m, momentum + at);
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      g[i] += w[i] * p.decay;
      m[i] = m[i] * p.momentum + g[i];
      w[i] -= rate * (p.nesterov ? g[i] + m[i] * p.momentum : m[i]);
    }
    StoreNumbers(w, param + at), StoreNumbers(m, momentum + at);
  });
}

}  // namespace
}  // namespace kk_cuda

#define KK_STEPS(name, T)                                                                                         \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kRunThreads) adamw_##name(                                \
      const __grid_constant__ kk_cuda::ListPart list, const int* step, const float* lr, kk_cuda::AdamwParams p) { \
    kk_cuda::Adamw<T>(list, step, lr, p);                                                                         \
  }                                                                                                               \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kRunThreads)                                              \
      lion_##name(const __grid_constant__ kk_cuda::ListPart list, const float* lr, kk_cuda::LionParams p) {       \
    kk_cuda::Lion<T>(list, lr, p);                                                                                \
  }                                                                                                               \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kRunThreads)                                              \
      sgd_##name(const __grid_constant__ kk_cuda::ListPart list, const float* lr, kk_cuda::SgdParams p) {         \
    kk_cuda::Sgd<T>(list, lr, p);                                                                                 \
  }
KK_STEPS(f32, float)
KK_STEPS(f16, __half)
KK_STEPS(bf16, __nv_bfloat16)
