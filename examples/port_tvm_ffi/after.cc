// Rows of floats as int8 with a scale per row, and back: for Kernpack.
#include <kernpack/kernel.h>

#include <algorithm>
#include <cmath>

namespace kp = kernpack;

static void Quantize(kp::TensorView x, int64_t largest, kp::MutTensorView q, kp::MutTensorView scale) {
  KP_CHECK(largest >= 1 && largest <= 127, ValueError) << "largest: expected 1 to 127, got " << largest;
  const int64_t columns = x.size(-1);
  for (int64_t r = 0; r < scale.numel(); ++r) {
    const float* in = x.data_ptr<float>() + r * columns;
    float most = 0;
    for (int64_t c = 0; c < columns; ++c) most = std::max(most, std::abs(in[c]));
    const float step = most > 0 ? most / static_cast<float>(largest) : 1;
    for (int64_t c = 0; c < columns; ++c) {
      q.data_ptr<int8_t>()[r * columns + c] = static_cast<int8_t>(std::lround(in[c] / step));
    }
    scale.data_ptr<float>()[r] = step;
  }
}

static void Dequantize(kp::TensorView q, kp::TensorView scale, kp::MutTensorView x) {
  for (int64_t i = 0; i < x.numel(); ++i) {
    x.data_ptr<float>()[i] = q.data_ptr<int8_t>()[i] * scale.data_ptr<float>()[i / x.size(-1)];
  }
}

KP_MODULE("row_quantizer", "1.0.0");
KP_EXPORT(quantize, Quantize, "(x: f32[..., D], *, largest: int = 127) -> (q: i8[..., D], scale: f32[...])");
KP_EXPORT(dequantize, Dequantize, "(q: i8[..., D], scale: f32[...]) -> (x: f32[..., D])");
