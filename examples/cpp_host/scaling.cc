// Compiled into the program with -DKP_STATIC_NAME=scaling, which names its query function kp_module_v1_scaling.
#include <kernpack/kernel.h>

namespace kp = kernpack;

static void Scale(kp::TensorView x, double factor, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i)
    out.data_ptr<float>()[i] = static_cast<float>(factor) * x.data_ptr<float>()[i];
}

KP_MODULE("scaling", "1.0.0");
KP_EXPORT(scale, Scale, "(x: f32[...], factor: float) -> (out: f32[...])");
