// Norms, activations and rope on CUDA devices.
#include "../../../src/gated/contract.h"
#include "../../../src/ops/norm_contract.h"
#include "../../../src/rope/contract.h"
#include "call.h"
#include "gates.fatbin.h"
#include "norms.fatbin.h"
#include "rope.fatbin.h"

namespace kk_cuda {
namespace {

constexpr kp::DeviceCode kNorms{"norms", "fatbin", {device_code::norms_fatbin, sizeof device_code::norms_fatbin}};
constexpr kp::DeviceCode kGates{"gates", "fatbin", {device_code::gates_fatbin, sizeof device_code::gates_fatbin}};
constexpr kp::DeviceCode kRope{"rope", "fatbin", {device_code::rope_fatbin, sizeof device_code::rope_fatbin}};
constexpr uint32_t kNormThreads = 128, kGateThreads = 256, kRopeThreads = 64;

NormParams ParamsOf(kp::TensorView x, kp::TensorView weight, const std::optional<kp::TensorView>& bias, double eps) {
  return {LayoutOf("x", x), KindOf(weight.dtype()), ToInt("x", x.size(-1)), bias.has_value(), eps};
}

void Norm(const char* kernel, kp::TensorView x, kp::TensorView weight, const std::optional<kp::TensorView>& bias,
          double eps, kp::MutTensorView out) {
  if (x.numel() == 0) return;
  kp::launch(x.device(), kNorms, Named(kernel, x.dtype()).c_str(), {BlockCount(x.numel() / x.size(-1))}, {kNormThreads},
             x, weight, MemoryOf(bias), out, ParamsOf(x, weight, bias, eps));
}

void AddNorm(const char* kernel, kp::TensorView x, kp::TensorView residual, kp::TensorView weight,
             const std::optional<kp::TensorView>& bias, double eps, kp::MutTensorView out, kp::MutTensorView sum) {
  if (x.numel() == 0) return;
  kp::launch(x.device(), kNorms, Named(kernel, x.dtype()).c_str(), {BlockCount(x.numel() / x.size(-1))}, {kNormThreads},
             x, residual, weight, MemoryOf(bias), out, sum, ParamsOf(x, weight, bias, eps));
}

void LayerNorm(kp::TensorView x, kp::TensorView weight, std::optional<kp::TensorView> bias, double eps,
               kp::MutTensorView out) {
  Norm("layer_norm", x, weight, bias, eps, out);
}
void RmsNorm(kp::TensorView x, kp::TensorView weight, double eps, kp::MutTensorView out) {
  Norm("rms_norm", x, weight, std::nullopt, eps, out);
}
void AddLayerNorm(kp::TensorView x, kp::TensorView residual, kp::TensorView weight, std::optional<kp::TensorView> bias,
                  double eps, kp::MutTensorView out, kp::MutTensorView sum) {
  AddNorm("add_layer_norm", x, residual, weight, bias, eps, out, sum);
}
void AddRmsNorm(kp::TensorView x, kp::TensorView residual, kp::TensorView weight, double eps, kp::MutTensorView out,
                kp::MutTensorView sum) {
  AddNorm("add_rms_norm", x, residual, weight, std::nullopt, eps, out, sum);
}

void LaunchGates(kp::TensorView x, kp::TensorView up, kp::MutTensorView out, const GateParams& p) {
  kp::launch(x.device(), kGates, Named("gates", x.dtype()).c_str(),
             {BlockCount((p.count + kGateThreads - 1) / kGateThreads)}, {kGateThreads}, x, up, out, p);
}

void Gate(GateKind kind, kp::TensorView x, kp::TensorView up, kp::MutTensorView out) {
  if (x.numel() == 0) return;
  LaunchGates(x, up, out, {LayoutOf("x", x), LayoutOf("up", up), x.numel(), ToInt("x", x.size(-1)), kind});
}

void SiluOp(kp::TensorView x, kp::MutTensorView out) { Gate(kSilu, x, x, out); }
void Relu2(kp::TensorView x, kp::MutTensorView out) { Gate(kRelu2, x, x, out); }

// Any shape: a row for each element.
void GeluOp(kp::TensorView x, kp::StringView approximate, kp::MutTensorView out) {
  if (x.numel() == 0) return;
  GateParams p{};
  p.x.dims = 1, p.x.size[0] = x.numel(), p.x.stride[0] = 1, p.x.step = 1;
  p.count = x.numel(), p.width = 1, p.kind = approximate == "tanh" ? kGeluTanh : kGelu;
  LaunchGates(x, x, out, p);
}

void Swiglu(kp::TensorView gate, kp::TensorView up, kp::MutTensorView out) { Gate(kSwiglu, gate, up, out); }
void Geglu(kp::TensorView gate, kp::TensorView up, kp::StringView approximate, kp::MutTensorView out) {
  Gate(approximate == "tanh" ? kGegluTanh : kGeglu, gate, up, out);
}

void RopeOp(kp::TensorView x, kp::TensorView cos, kp::TensorView sin, bool interleaved, kp::MutTensorView out) {
  if (x.numel() == 0) return;
  const int64_t rows = x.numel() / x.size(-1);
  const RopeParams p = {LayoutOf("x", x),       BroadcastOf(x.sizes(), 2, cos), rows,       ToInt("x", x.size(-2)),
                        ToInt("x", x.size(-1)), ToInt("cos", cos.size(-1)),     interleaved};
  kp::launch(x.device(), kRope, Named("rope", x.dtype()).c_str(), {BlockCount(rows)}, {kRopeThreads}, x, cos, sin, out,
             p);
}

}  // namespace
}  // namespace kk_cuda

KP_EXPORT_FOR("cuda", layer_norm, kk_cuda::LayerNorm, KK_LAYER_NORM_CONTRACT);
KP_EXPORT_FOR("cuda", rms_norm, kk_cuda::RmsNorm, KK_RMS_NORM_CONTRACT);
KP_EXPORT_FOR("cuda", add_layer_norm, kk_cuda::AddLayerNorm, KK_ADD_LAYER_NORM_CONTRACT);
KP_EXPORT_FOR("cuda", add_rms_norm, kk_cuda::AddRmsNorm, KK_ADD_RMS_NORM_CONTRACT);
KP_EXPORT_FOR("cuda", silu, kk_cuda::SiluOp, KK_ROW_ACTIVATION_CONTRACT);
KP_EXPORT_FOR("cuda", relu2, kk_cuda::Relu2, KK_ROW_ACTIVATION_CONTRACT);
KP_EXPORT_FOR("cuda", gelu, kk_cuda::GeluOp, KK_GELU_CONTRACT);
KP_EXPORT_FOR("cuda", swiglu, kk_cuda::Swiglu, KK_SWIGLU_CONTRACT);
KP_EXPORT_FOR("cuda", geglu, kk_cuda::Geglu, KK_GEGLU_CONTRACT);
KP_EXPORT_FOR("cuda", rope, kk_cuda::RopeOp, KK_ROPE_CONTRACT);
