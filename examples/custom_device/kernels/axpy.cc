// out = a * x + y, for the processor and for the toy.
#include <kernpack/device_kernel.h>
#include <kernpack/kernel.h>

namespace kp = kernpack;

static void Axpy(kp::TensorView x, kp::TensorView y, double a, kp::MutTensorView out) {
  const kp::Span<const float> from(x), plus(y);
  const kp::Span<float> to(out);
  for (int64_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(a) * from[i] + plus[i];
}

constexpr kp::DeviceCode kToyCode{"axpy", "toy", "kernel axpy: a0 a1 * a2 + -> a3"};

static void AxpyToy(kp::TensorView x, kp::TensorView y, double a, kp::MutTensorView out) {
  const auto threads = static_cast<uint32_t>(x.numel());
  kp::launch(x.device(), kToyCode, "axpy", {threads}, kp::any_block, static_cast<float>(a), x, y, out);
}

#define SIGNATURE "(x: f32[N], y: f32[N], *, a: float = 1.0) -> (out: f32[N])"

KP_MODULE("toy_kernels", "1.0.0");
KP_EXPORT(axpy, Axpy, SIGNATURE);
KP_EXPORT_FOR("toy", axpy, AxpyToy, SIGNATURE);
