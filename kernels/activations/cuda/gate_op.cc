// Activations and their gradients on CUDA devices.
#include "activations/contract.h"
#include "activations/cuda/gates.h"
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

#define KK_ROW_ACTIVATION(op, Name, text)                                              \
  void Name##Op(kp::TensorView x, kp::MutTensorView out) { Gate(k##Name, x, x, out); } \
  void Name##Backward(kp::TensorView d_out, kp::TensorView x, kp::MutTensorView d_x) { \
    GateBackward(k##Name, d_out, x, x, d_x, std::nullopt);                             \
  }
KK_ROW_ACTIVATIONS(KK_ROW_ACTIVATION)

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

#define KK_EXPORT_ROW_ACTIVATION(op, Name, text)                            \
  KP_EXPORT_FOR("cuda", op, kk_cuda::Name##Op, KK_ROW_ACTIVATION_CONTRACT); \
  KP_EXPORT_FOR("cuda", op##_backward, kk_cuda::Name##Backward, KK_ROW_ACTIVATION_BACKWARD_CONTRACT);
KK_ROW_ACTIVATIONS(KK_EXPORT_ROW_ACTIVATION)
KP_EXPORT_FOR("cuda", gelu, kk_cuda::GeluOp, KK_GELU_CONTRACT);
KP_EXPORT_FOR("cuda", gelu_backward, kk_cuda::GeluBackward, KK_GELU_BACKWARD_CONTRACT);
KP_EXPORT_FOR("cuda", gelu_jvp, kk_cuda::GeluBackward, KK_GELU_JVP_CONTRACT);
KP_EXPORT_FOR("cuda", swiglu, kk_cuda::Swiglu, KK_SWIGLU_CONTRACT);
KP_EXPORT_FOR("cuda", swiglu_backward, kk_cuda::SwigluBackward, KK_SWIGLU_BACKWARD_CONTRACT);
KP_EXPORT_FOR("cuda", geglu, kk_cuda::Geglu, KK_GEGLU_CONTRACT);
KP_EXPORT_FOR("cuda", geglu_backward, kk_cuda::GegluBackward, KK_GEGLU_BACKWARD_CONTRACT);
