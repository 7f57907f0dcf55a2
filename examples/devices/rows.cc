// Layer norm, softmax and GELU on OpenCL and CUDA devices: rows.cl, which is inside this module. OpenCL compiles it on its first use
// on a device; for CUDA nvcc did when the wheel was built.
#include <kernpack/device_kernel.h>
#include <kernpack/kernel.h>

#include "rows.cl.h"
#ifdef DEVICE_ROWS_CUDA
#include "rows.fatbin.h"
#endif

namespace kp = kernpack;

namespace {

constexpr kp::DeviceCode kOpenCl{"rows", "cl", {device_code::rows_cl, sizeof device_code::rows_cl}};
#ifdef DEVICE_ROWS_CUDA
constexpr kp::DeviceCode kCuda{"rows_cuda", "fatbin", {device_code::rows_fatbin, sizeof device_code::rows_fatbin}};
#endif

const kp::DeviceCode& RowsCode(kp::Device device) {
#ifdef DEVICE_ROWS_CUDA
  if (device.type == KP_DEVICE_CUDA) return kCuda;
#endif
  static_cast<void>(device);
  return kOpenCl;
}

constexpr uint32_t kGroup = 64;  // work items of a row
constexpr kp::LocalMemory kScratch{kGroup * sizeof(float)};

uint32_t Count(int64_t n) {
  KP_CHECK(n <= UINT32_MAX, ValueError) << "a launch has at most " << UINT32_MAX << " groups or items, not " << n;
  return static_cast<uint32_t>(n);
}

uint32_t Rows(kp::TensorView x) { return x.numel() == 0 ? 0 : Count(x.numel() / x.size(-1)); }

void LayerNorm(kp::TensorView x, kp::TensorView weight, kp::TensorView bias, double eps, kp::MutTensorView out) {
  kp::launch(x.device(), RowsCode(x.device()), "layer_norm", {Rows(x)}, {kGroup}, x, weight, bias, out, x.size(-1),
             static_cast<float>(eps), kScratch);
}

void Softmax(kp::TensorView x, kp::TensorView keep, kp::MutTensorView out) {
  kp::launch(x.device(), RowsCode(x.device()), "softmax", {Rows(x)}, {kGroup}, x, keep, out, x.size(-1),
             x.size(1) * x.size(2), kScratch);
}

void Gelu(kp::TensorView x, kp::MutTensorView out) {
  kp::launch(x.device(), RowsCode(x.device()), "gelu", {Count(x.numel())}, kp::any_block, x, out, x.numel());
}

}  // namespace

KP_MODULE("device_rows", "1.0.0");

constexpr char kLayerNorm[] =
    "(x: f32[..., D], weight: f32[D], bias: f32[D], *, eps: float = 1e-5) -> (out: f32[..., D])";
constexpr char kSoftmax[] = "(x: f32[B, H, Q, K], keep: bool[B, K]) -> (out: f32[B, H, Q, K])";
constexpr char kGelu[] = "(x: f32[...]) -> (out: f32[...])";

KP_EXPORT_FOR("opencl", layer_norm, LayerNorm, kLayerNorm);
KP_EXPORT_FOR("opencl", softmax, Softmax, kSoftmax);
KP_EXPORT_FOR("opencl", gelu, Gelu, kGelu);
#ifdef DEVICE_ROWS_CUDA
KP_EXPORT_FOR("cuda", layer_norm, LayerNorm, kLayerNorm);
KP_EXPORT_FOR("cuda", softmax, Softmax, kSoftmax);
KP_EXPORT_FOR("cuda", gelu, Gelu, kGelu);
#endif
