// An ordinary kernel module: nothing here knows of torch.
#include <kernpack/kernel.h>

namespace kp = kernpack;

void Scale(kp::TensorView x, double factor, kp::MutTensorView out) {
  const kp::Span<const float> from(x);
  const kp::Span<float> to(out);
  kp::parallel_for(from.size(), 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = static_cast<float>(from[i] * factor);
  });
}

KP_MODULE("scaling", "1.0.0");
KP_EXPORT(scale, Scale, "(x: f32[...], *, factor: float = 2.0) -> (out: f32[...])");
