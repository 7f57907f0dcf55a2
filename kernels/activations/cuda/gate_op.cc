// Activations and their gradients on CUDA devices.
#include "activations/contract.h"
#include "common/cuda/call.h"
#include "gates.fatbin.h"

namespace kk_cuda {
namespace {

constexpr kp::DeviceCode kGates{"gates", "fatbin", {device_code::gates_fatbin, sizeof device_code::gates_fatbin}};
constexpr uint32_t kThreads = 256;

bool IsContiguous(const RowLayout& rows, int64_t width) {
  return rows.step == 1 && (rows.dims == 0 || (rows.dims == 1 && rows.stride[0] == width));
}

GateParams MakeParams(GateKind kind, kp::TensorView x, kp::TensorView up) {
  GateParams p = {GetLayout("x", x), GetLayout("up", up), x.numel(), ToInt("x", x.size(-1)), kind, 0, 0};
  p.flat = IsContiguous(p.x, p.width) && IsContiguous(p.up, p.width);
  p.wide = p.count > int64_t{1} << 31;
  return p;
}

// Any shape: one row.
GateParams MakeElementParams(kp::StringView approximate, kp::TensorView x) {
  GateParams p{};
  p.count = x.numel(), p.flat = 1, p.kind = approximate == "tanh" ? kGeluTanh : kGelu;
  return p;
}

GateKind Gated(kp::StringView approximate) { return approximate == "tanh" ? kGegluTanh : kGeglu; }

// x and up: the ones of p. aligned: all results, and the other arguments, which are contiguous.
template <class... Args>
void Launch(const char* kernel, const GateParams& p, kp::TensorView x, kp::TensorView up, bool aligned,
            const Args&... args) {
  const int64_t chunk = kChunkBytes / x.itemsize();
  const bool chunks = aligned && (p.flat ? p.count % chunk == 0 && IsAligned(x) && IsAligned(up)
                                         : HasChunks(x, p.x) && HasChunks(up, p.up));
  const int64_t threads = chunks ? p.count / chunk : p.count;
  kp::launch(x.device(), kGates, Named(std::string(kernel) + (chunks ? "_chunks" : ""), x.dtype()).c_str(),
             {BlockCount((threads + kThreads - 1) / kThreads)}, {kThreads}, args..., p);
}

void Gate(const GateParams& p, kp::TensorView x, kp::TensorView up, kp::MutTensorView out) {
  Launch("gates", p, x, up, IsAligned(out), x, up, out);
}
void Gate(GateKind kind, kp::TensorView x, kp::TensorView up, kp::MutTensorView out) {
  if (x.numel() != 0) Gate(MakeParams(kind, x, up), x, up, out);
}

// d_up: absent where there is no `up`, which then is x.
void GateBackward(GateKind kind, kp::TensorView d_out, kp::TensorView x, kp::TensorView up, kp::MutTensorView d_x,
                  const std::optional<kp::TensorView>& d_up) {
  if (x.numel() == 0) return;
  Launch("gates_backward", MakeParams(kind, x, up), x, up, IsAligned(d_out) && IsAligned(d_x) && IsAligned(d_up), d_out,
         x, up, d_x, GetMemory(d_up));
}

void SiluOp(kp::TensorView x, kp::MutTensorView out) { Gate(kSilu, x, x, out); }
void SiluBackward(kp::TensorView d_out, kp::TensorView x, kp::MutTensorView d_x) {
  GateBackward(kSilu, d_out, x, x, d_x, std::nullopt);
}

void Relu2(kp::TensorView x, kp::MutTensorView out) { Gate(kRelu2, x, x, out); }
void Relu2Backward(kp::TensorView d_out, kp::TensorView x, kp::MutTensorView d_x) {
  GateBackward(kRelu2, d_out, x, x, d_x, std::nullopt);
}

void GeluOp(kp::TensorView x, kp::StringView approximate, kp::MutTensorView out) {
  if (x.numel() != 0) Gate(MakeElementParams(approximate, x), x, x, out);
}
// Of the gradient, and of the tangent: both are multiplied by the derivative.
void GeluBackward(kp::TensorView d_out, kp::TensorView x, kp::StringView approximate, kp::MutTensorView d_x) {
  if (x.numel() == 0) return;
  Launch("gates_backward", MakeElementParams(approximate, x), x, x, IsAligned(d_out) && IsAligned(d_x), d_out, x, x,
         d_x, GetMemory(std::nullopt));
}

void Swiglu(kp::TensorView gate, kp::TensorView up, kp::MutTensorView out) { Gate(kSwiglu, gate, up, out); }
void SwigluBackward(kp::TensorView d_out, kp::TensorView gate, kp::TensorView up, kp::MutTensorView d_gate,
                    kp::MutTensorView d_up) {
  GateBackward(kSwiglu, d_out, gate, up, d_gate, d_up);
}

void Geglu(kp::TensorView gate, kp::TensorView up, kp::StringView approximate, kp::MutTensorView out) {
  Gate(Gated(approximate), gate, up, out);
}
void GegluBackward(kp::TensorView d_out, kp::TensorView gate, kp::TensorView up, kp::StringView approximate,
                   kp::MutTensorView d_gate, kp::MutTensorView d_up) {
  GateBackward(Gated(approximate), d_out, gate, up, d_gate, d_up);
}

}  // namespace
}  // namespace kk_cuda

KP_EXPORT_FOR("cuda", silu, kk_cuda::SiluOp, KK_ROW_ACTIVATION_CONTRACT);
KP_EXPORT_FOR("cuda", silu_backward, kk_cuda::SiluBackward, KK_ROW_ACTIVATION_BACKWARD_CONTRACT);
KP_EXPORT_FOR("cuda", relu2, kk_cuda::Relu2, KK_ROW_ACTIVATION_CONTRACT);
KP_EXPORT_FOR("cuda", relu2_backward, kk_cuda::Relu2Backward, KK_ROW_ACTIVATION_BACKWARD_CONTRACT);
KP_EXPORT_FOR("cuda", gelu, kk_cuda::GeluOp, KK_GELU_CONTRACT);
KP_EXPORT_FOR("cuda", gelu_backward, kk_cuda::GeluBackward, KK_GELU_BACKWARD_CONTRACT);
KP_EXPORT_FOR("cuda", gelu_jvp, kk_cuda::GeluBackward, KK_GELU_JVP_CONTRACT);
KP_EXPORT_FOR("cuda", swiglu, kk_cuda::Swiglu, KK_SWIGLU_CONTRACT);
KP_EXPORT_FOR("cuda", swiglu_backward, kk_cuda::SwigluBackward, KK_SWIGLU_BACKWARD_CONTRACT);
KP_EXPORT_FOR("cuda", geglu, kk_cuda::Geglu, KK_GEGLU_CONTRACT);
KP_EXPORT_FOR("cuda", geglu_backward, kk_cuda::GegluBackward, KK_GEGLU_BACKWARD_CONTRACT);
