#include <kernpack/kernel.h>

namespace kp = kernpack;

static void Axpy(kp::TensorView x, kp::TensorView y, double a, kp::MutTensorView out) {
  const kp::Span<const float> from(x), plus(y);
  const kp::Span<float> to(out);
  for (int64_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(a) * from[i] + plus[i];
}

KP_MODULE("axpy", "1.0.0");
KP_EXPORT(axpy, Axpy, "(x: f32[N], y: f32[N], a: float = 1.0) -> (out: f32[N])");
