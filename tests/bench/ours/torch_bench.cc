// Small kernels for what torch's dispatcher, compiler and autograd cost around them.
#include <kernpack/kernel.h>

namespace kp = kernpack;

void Blend(kp::TensorView x, kp::TensorView y, double factor, kp::MutTensorView out) {
  const float* a = x.data_ptr<float>();
  const float* b = y.data_ptr<float>();
  float* o = out.data_ptr<float>();
  for (int64_t i = 0; i < x.numel(); ++i) o[i] = a[i] + static_cast<float>(factor) * b[i];
}

void Increase(kp::MutTensorView x, kp::TensorView y) { Blend(x, y, 1.0, x); }

void Twice(kp::TensorView x, kp::MutTensorView out) { Blend(x, x, 1.0, out); }

KP_MODULE("torch_bench", "1.0.0");
KP_EXPORT(blend, Blend, "(x: f32[*S], y: f32[*S], *, factor: float) -> (out: f32[*S])");
KP_EXPORT(increase, Increase, "(x!: f32[*S], y: f32[*S]) -> ()");
KP_EXPORT(twice, Twice, "(x: f32[*S]) -> (out: f32[*S])");
KP_EXPORT(twice_backward, Twice, "(d_out: f32[*S]) -> (d_x: f32[*S])");
KP_GRAD(twice, twice_backward);
