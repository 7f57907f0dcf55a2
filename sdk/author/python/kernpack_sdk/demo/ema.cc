#include <kernpack/kernel.h>
namespace kp = kernpack;

// An exponential moving average: each value needs the one before it.
void Ema(kp::TensorView x, double alpha, kp::MutTensorView y) {
  const kp::Span<const float> in(x);
  const kp::Span<float> out(y);
  float average = in[0];
  for (int64_t i = 0; i < in.size(); ++i) out[i] = average += static_cast<float>(alpha) * (in[i] - average);
}

KP_MODULE("demo", "1.0.0");
KP_EXPORT(ema, Ema, "(x: f32[T], *, alpha: float = 0.1) -> (y: f32[T]) where T >= 1");
