#include <kernpack/kernel.h>

namespace kp = kernpack;

static void Axpy(kp::TensorView x, kp::TensorView y, double a, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) {
    out.data_ptr<float>()[i] = static_cast<float>(a) * x.data_ptr<float>()[i] + y.data_ptr<float>()[i];
  }
}

KP_MODULE("axpy", "1.0.0");
KP_EXPORT(axpy, Axpy, "(x: f32[N], y: f32[N], a: float = 1.0) -> (out: f32[N])");
