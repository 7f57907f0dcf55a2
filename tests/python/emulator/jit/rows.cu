// Kernels that NVRTC compiles at their first use: templates, one in a namespace, and one with C's name.
#include "bounds.cuh"

template <class T>
__global__ void scale(const T* x, float by, T* out, long long n) {
  if (item() < n) out[item()] = x[item()] * T(by);
}

template <class T, int by>
__global__ void add(const T* x, T* out, long long n) {
  if (item() < n) out[item()] = x[item()] + T(by);
}

namespace rows {
__global__ void negate(const float* x, float* out, long long n) {
  if (item() < n) out[item()] = -x[item()];
}
}  // namespace rows

extern "C" __global__ void shift(const float* x, float* out, long long n) {
  if (item() < n) out[item()] = x[item()] + SHIFT;
}
