// Rows of floats as int8 with a scale per row, and back: for Kernpack.
#include <kernpack/kernel.h>

#include <algorithm>
#include <cmath>

namespace kp = kernpack;

static void Quantize(kp::TensorView x, int64_t largest, kp::MutTensorView q, kp::MutTensorView scale) {
  KP_CHECK(largest >= 1 && largest <= 127, ValueError) << "largest: expected 1 to 127, got " << largest;
  const kp::Span<const float> from(x);
  const kp::Span<int8_t> to(q);
  const kp::Span<float> steps(scale);
  const int64_t columns = x.size(-1);
  for (int64_t r = 0; r < steps.size(); ++r) {
    const float* in = from.data() + r * columns;
    float most = 0;
    for (int64_t c = 0; c < columns; ++c) most = std::max(most, std::abs(in[c]));
    const float step = most > 0 ? most / static_cast<float>(largest) : 1;
    for (int64_t c = 0; c < columns; ++c) to[r * columns + c] = static_cast<int8_t>(std::lround(in[c] / step));
    steps[r] = step;
  }
}

static void Dequantize(kp::TensorView q, kp::TensorView scale, kp::MutTensorView x) {
  const kp::Span<const int8_t> from(q);
  const kp::Span<const float> steps(scale);
  const kp::Span<float> to(x);
  const int64_t columns = x.size(-1);
  for (int64_t i = 0; i < to.size(); ++i) to[i] = from[i] * steps[i / columns];
}

KP_MODULE("row_quantizer", "1.0.0");
KP_EXPORT(quantize, Quantize, "(x: f32[..., D], *, largest: int = 127) -> (q: i8[..., D], scale: f32[...])");
KP_EXPORT(dequantize, Dequantize, "(q: i8[..., D], scale: f32[...]) -> (x: f32[..., D])");
