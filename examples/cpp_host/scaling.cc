// Compiled into the program with -DKP_STATIC_NAME=scaling, which names its query function kp_module_v1_scaling.
#include <kernpack/kernel.h>

namespace kp = kernpack;

static void Scale(kp::TensorView x, double factor, kp::MutTensorView out) {
  const kp::Span<const float> from(x);
  const kp::Span<float> to(out);
  for (int64_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(factor) * from[i];
}

KP_MODULE("scaling", "1.0.0");
KP_EXPORT(scale, Scale, "(x: f32[...], factor: float) -> (out: f32[...])");
