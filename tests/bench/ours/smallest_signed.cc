#include <kernpack/kernel.h>

namespace kp = kernpack;

static void AddOne(kp::TensorView x, kp::MutTensorView y) {
  const float* in = x.data_ptr<float>();
  float* out = y.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = in[i] + 1;
}

KP_MODULE("smallest", "1.0.0");
KP_EXPORT(add_one, AddOne, "(x: f32[N]) -> (y: f32[N])");
