// The element types below 32 bits in device code, for call_small_floats.py: patterns in, patterns out.
#include <kernpack/cuda.h>

namespace kp = kernpack;

// The values of T as floats, these floats as T again, sums with the value of the next thread, and halves of them.
template <class T>
__global__ void NumbersKernel(kp::Span<const int32_t> bits, kp::Span<float> wide, kp::Span<int32_t, 2> out) {
  using Bits = typename T::Bits;
  const int64_t n = bits.size();
  for (int64_t i : kp::cuda::grid_stride(n)) {
    const T x = T::from_bits(static_cast<Bits>(bits[i])), next = T::from_bits(static_cast<Bits>(bits[(i + 1) % n]));
    wide[i] = x;
    T half = x;
    half /= 2;
    const T values[] = {T(wide[i]), x + next, x * next, half, abs(x), x < next ? std::numeric_limits<T>::max() : -x};
    for (int row = 0; row < 6; ++row) out(row, i) = values[row].bits();
    out(6, i) = isnan(x) + 2 * isinf(x) + 4 * isfinite(x) + 8 * signbit(x);
  }
}

// The same bits, through the toolkit's type.
template <class T, class Theirs>
__global__ void InteropKernel(kp::Span<const int32_t> bits, kp::Accessor<int32_t, 1> out) {
  for (int64_t i : kp::cuda::grid_stride(bits.size())) {
    const Theirs theirs = T::from_bits(static_cast<uint16_t>(bits[i]));
    const T x = theirs;
    out[i] = x.bits();
  }
}

template <class T>
static void Numbers(kp::TensorView bits, kp::MutTensorView wide, kp::MutTensorView out) {
  kp::cuda::launch(bits, NumbersKernel<T>, kp::cuda::blocks(bits.numel(), 256), 256, 0, kp::Span<const int32_t>(bits),
                   kp::Span<float>(wide), kp::Span<int32_t, 2>(out));
}
template <class T, class Theirs>
static void Interop(kp::TensorView bits, kp::MutTensorView out) {
  kp::cuda::launch(bits, InteropKernel<T, Theirs>, kp::cuda::blocks(bits.numel(), 256), 256, 0,
                   kp::Span<const int32_t>(bits), kp::Accessor<int32_t, 1>(out));
}
static void HalfInterop(kp::TensorView bits, kp::MutTensorView out) { Interop<kp::half, __half>(bits, out); }
static void BfloatInterop(kp::TensorView bits, kp::MutTensorView out) {
  Interop<kp::bfloat16, __nv_bfloat16>(bits, out);
}

#define NUMBERS "(bits: i32[N]) -> (wide: f32[N], out: i32[7, N]) with on \"cuda\""
#define INTEROP "(bits: i32[N]) -> (out: i32[N]) with on \"cuda\""

KP_MODULE("small_floats", "1.0.0");
KP_EXPORT(half, Numbers<kp::half>, NUMBERS);
KP_EXPORT(bfloat16, Numbers<kp::bfloat16>, NUMBERS);
KP_EXPORT(float8_e4m3fn, Numbers<kp::float8_e4m3fn>, NUMBERS);
KP_EXPORT(float8_e5m2, Numbers<kp::float8_e5m2>, NUMBERS);
KP_EXPORT(half_interop, HalfInterop, INTEROP);
KP_EXPORT(bfloat16_interop, BfloatInterop, INTEROP);
