// swiglu.
#include "swiglu.h"

#include "../ops/strided.h"

namespace kk {
namespace {

template <class Level>
void SwigluOp(kp::TensorView gate, kp::TensorView up, kp::MutTensorView out) {
  if (out.numel() == 0) return;
  DispatchFloat(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const StridedRows<T> gates(gate), ups(up);
    const int64_t width = LastDim(out);
    ForRows(Rows(out), width, [&](int64_t begin, int64_t end) {
      std::vector<T> gate_copy, up_copy;
      for (int64_t r = begin; r < end; ++r) {
        Swiglu<Level, T>(gates.Row(r, gate_copy), ups.Row(r, up_copy), Data<T>(out) + r * width, width);
      }
    });
  });
}

template <class Level>
void SwigluBackwardOp(kp::TensorView d_out, kp::TensorView gate, kp::TensorView up, kp::MutTensorView d_gate,
                      kp::MutTensorView d_up) {
  if (d_out.numel() == 0) return;
  DispatchFloat(d_out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const StridedRows<T> gates(gate), ups(up);
    const int64_t width = LastDim(d_out);
    ForRows(Rows(d_out), width, [&](int64_t begin, int64_t end) {
      std::vector<T> gate_copy, up_copy;
      for (int64_t r = begin, at = begin * width; r < end; ++r, at += width) {
        SwigluBackward<Level, T>(Data<T>(d_out) + at, gates.Row(r, gate_copy), ups.Row(r, up_copy),
                                 Data<T>(d_gate) + at, Data<T>(d_up) + at, width);
      }
    });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(swiglu,
       "silu(gate) * up, where silu(x) = x / (1 + exp(-x)). The arguments may be strided, for example the "
       "halves that chunk() returns.");
KK_EXPORT(swiglu, kk::SwigluOp,
          "(gate: T[..., D] strided, up: T[..., D] strided) -> (out: T[..., D]) where T in {f32, f64, f16, bf16} "
          "with deterministic");
KK_EXPORT(swiglu_backward, kk::SwigluBackwardOp,
          "(d_out: T[..., D], gate: T[..., D] strided, up: T[..., D] strided) -> (d_gate: T[..., D], d_up: T[..., D]) "
          "where T in {f32, f64, f16, bf16} with deterministic, nondiff(d_out, gate, up)");
KP_GRAD(swiglu, swiglu_backward);
