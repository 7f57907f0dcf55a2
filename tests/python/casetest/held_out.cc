// Ten ops with one mistake each, written from docs/testing.md after the checks were: what they find of bugs that nobody had in mind.
#include <kernpack/kernel.h>
#ifdef __x86_64__
#include <xmmintrin.h>
#endif

#include <cmath>
#include <cstdlib>
#include <vector>

namespace kp = kernpack;
namespace {

const float* In(kp::TensorView x) { return x.data_ptr<float>(); }
float* Out(kp::MutTensorView x) { return x.data_ptr<float>(); }

// Row r is r's own, but the last two of four and more are swapped.
void SwapsLastRows(kp::TensorView x, kp::MutTensorView out) {
  const int64_t d = x.size(-1), rows = d ? x.numel() / d : 0;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t to = rows > 3 && r >= rows - 2 ? 2 * rows - 3 - r : r;
    for (int64_t i = 0; i < d; ++i) Out(out)[to * d + i] = 2 * In(x)[r * d + i];
  }
}

// Flushes denormals to zero, for speed, and leaves the thread so.
void LeavesDenormalsOff(kp::TensorView x, kp::MutTensorView out) {
#ifdef __x86_64__
  _mm_setcsr(_mm_getcsr() | 0x8040);
#endif
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = In(x)[i] * In(x)[i];
}

// The mask's last column is never looked at.
void MaskWithoutTail(kp::TensorView x, kp::TensorView mask, kp::MutTensorView out) {
  const int64_t d = x.size(-1);
  for (int64_t i = 0; i < x.numel(); ++i) {
    const bool kept = i % d == d - 1 || mask.data_ptr<bool>()[i];
    Out(out)[i] = kept ? In(x)[i] : 0;
  }
}

void Scaled(kp::TensorView x, double scale, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = static_cast<float>(scale * std::sin(In(x)[i]));
}
// Right for the default of `scale`.
void ScaledBackward(kp::TensorView d_out, kp::TensorView x, double, kp::MutTensorView d_x) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(d_x)[i] = In(d_out)[i] * std::cos(In(x)[i]);
}

// Adds up in the dtype of its input: 16 bits lose most of a long sum.
void NarrowSum(kp::TensorView x, kp::MutTensorView out) {
  kp::dispatch<float, kp::bfloat16>(x.dtype(), [&](auto type) {
    using T = typename decltype(type)::type;
    const int64_t d = x.size(-1);
    for (int64_t r = 0; r < out.numel(); ++r) {
      T sum = static_cast<T>(0.0f);
      for (int64_t i = 0; i < d; ++i)
        sum = static_cast<T>(static_cast<float>(sum) + static_cast<float>(x.data_ptr<T>()[r * d + i]));
      out.data_ptr<T>()[r] = sum;
    }
  });
}

// Of more than two leading dims the others are left alone: their rows get the first rows' results.
void TwoLeadingDims(kp::TensorView x, kp::MutTensorView out) {
  const int64_t d = x.size(-1), rows = d ? x.numel() / d : 0;
  int64_t known = 1;
  for (int64_t i = 0; i + 1 < x.dim() && i < 2; ++i) known *= x.size(i);
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < d; ++i) Out(out)[r * d + i] = In(x)[(known ? r % known : r) * d + i] + 1;
  }
}

// A running maximum in a buffer of the thread, which grows and is never set back.
void ScratchStays(kp::TensorView x, kp::MutTensorView out) {
  thread_local std::vector<float> best;
  if (static_cast<int64_t>(best.size()) < x.numel()) best.resize(static_cast<size_t>(x.numel()), -INFINITY);
  for (int64_t i = 0; i < x.numel(); ++i) {
    best[static_cast<size_t>(i)] = std::fmax(best[static_cast<size_t>(i)], In(x)[i]);
    Out(out)[i] = best[static_cast<size_t>(i)];
  }
}

// Its scratch memory is freed where nothing is wrong.
void LeaksOnError(kp::TensorView x, int64_t groups, kp::MutTensorView out) {
  const size_t size = static_cast<size_t>(x.numel()) * sizeof(float) + 65536;
  float* scratch = static_cast<float*>(std::calloc(size, 1));
  KP_CHECK(groups > 0 && x.numel() % groups == 0, ValueError) << "groups: expected a divisor of N, got " << groups;
  for (int64_t i = 0; i < x.numel(); ++i) scratch[i] = In(x)[i] * static_cast<float>(groups);
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = scratch[i];
  std::free(scratch);
}

// Strides without their signs.
void AbsoluteStrides(kp::TensorView x, kp::MutTensorView out) {
  const int64_t rows = x.size(0), columns = x.size(1), a = std::abs(x.stride(0)), b = std::abs(x.stride(1));
  const float* first =
      In(x) + (x.stride(0) < 0 ? (rows - 1) * x.stride(0) : 0) + (x.stride(1) < 0 ? (columns - 1) * x.stride(1) : 0);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) Out(out)[i * columns + j] = first[i * a + j * b];
}

// NaN becomes 0 on the way.
void SwallowsNan(kp::TensorView x, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = std::isnan(In(x)[i]) ? 0 : 3 * In(x)[i];
}

}  // namespace

KP_MODULE("held_out_cases", "1.0.0");
KP_EXPORT(swaps_last_rows, SwapsLastRows, "(x: f32[..., D]) -> (out: f32[..., D])");
KP_EXPORT(leaves_denormals_off, LeavesDenormalsOff, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(mask_without_tail, MaskWithoutTail, "(x: f32[N, D], mask: bool[N, D]) -> (out: f32[N, D])");
KP_EXPORT(gradient_at_default, Scaled, "(x: f32[...], *, scale: float = 1.0) -> (out: f32[...])");
KP_EXPORT(gradient_at_default_backward, ScaledBackward,
          "(d_out: f32[...], x: f32[...], *, scale: float = 1.0) -> (d_x: f32[...])");
KP_GRAD(gradient_at_default, gradient_at_default_backward);
KP_EXPORT(narrow_sum, NarrowSum, "(x: T[..., D]) -> (out: T[...]) where T in {f32, bf16}");
KP_EXPORT(two_leading_dims, TwoLeadingDims, "(x: f32[..., D]) -> (out: f32[..., D])");
KP_EXPORT(scratch_stays, ScratchStays, "(x: f32[N]) -> (out: f32[N])");
KP_EXPORT(leaks_on_error, LeaksOnError, "(x: f32[N], groups: int) -> (out: f32[N])");
KP_EXPORT(absolute_strides, AbsoluteStrides, "(x: f32[N, D] strided) -> (out: f32[N, D])");
KP_EXPORT(swallows_nan, SwallowsNan, "(x: f32[..., D]) -> (out: f32[..., D])");
