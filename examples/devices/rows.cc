// Layer norm, softmax and GELU on OpenCL devices: rows.cl, which is inside this module, compiled on its first use on a device.
#include <kernpack/device_kernel.h>
#include <kernpack/kernel.h>

#include "rows.cl.h"

namespace kp = kernpack;

namespace {

constexpr kp::DeviceCode kRows{"rows", "cl", {device_code::rows_cl, sizeof device_code::rows_cl}};
constexpr uint32_t kGroup = 64;  // work items of a row
constexpr kp::LocalMemory kScratch{kGroup * sizeof(float)};

uint32_t Count(int64_t n) {
  KP_CHECK(n <= UINT32_MAX, ValueError) << "a launch has at most " << UINT32_MAX << " groups or items, not " << n;
  return static_cast<uint32_t>(n);
}

uint32_t Rows(kp::TensorView x) { return x.numel() == 0 ? 0 : Count(x.numel() / x.size(-1)); }

void LayerNorm(kp::TensorView x, kp::TensorView weight, kp::TensorView bias, double eps, kp::TensorView out) {
  kp::launch(x.device(), kRows, "layer_norm", {Rows(x)}, {kGroup}, x, weight, bias, out, x.size(-1),
             static_cast<float>(eps), kScratch);
}

void Softmax(kp::TensorView x, kp::TensorView keep, kp::TensorView out) {
  kp::launch(x.device(), kRows, "softmax", {Rows(x)}, {kGroup}, x, keep, out, x.size(-1), x.size(1) * x.size(2),
             kScratch);
}

void Gelu(kp::TensorView x, kp::TensorView out) {
  kp::launch(x.device(), kRows, "gelu", {Count(x.numel())}, kp::any_block, x, out, x.numel());
}

}  // namespace

KP_MODULE("device_rows", "1.0.0");
KP_EXPORT_FOR("opencl", layer_norm, LayerNorm,
              "(x: f32[..., D], weight: f32[D], bias: f32[D], *, eps: float = 1e-5) -> (out: f32[..., D])");
KP_EXPORT_FOR("opencl", softmax, Softmax, "(x: f32[B, H, Q, K], keep: bool[B, K]) -> (out: f32[B, H, Q, K])");
KP_EXPORT_FOR("opencl", gelu, Gelu, "(x: f32[...]) -> (out: f32[...])");
