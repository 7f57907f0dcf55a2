// swiglu, geglu, and the activations of row_activations.h.
#include "gated.h"

#include "common/cpu/strided.h"
#include "activations/contract.h"

namespace kk {
namespace {

// The signature has made sure that it is one of the two.
Gate ParseGelu(kp::StringView approximate) { return approximate == "tanh" ? Gate::kGeluTanh : Gate::kGelu; }

// Rows of a tensor that may be absent.
template <class T>
class OptionalRows {
 public:
  explicit OptionalRows(const std::optional<kp::TensorView>& x) {
    if (x) rows_.emplace(*x);
  }
  const T* Row(int64_t row, std::vector<T>& copy) const { return rows_ ? rows_->Row(row, copy) : nullptr; }

 private:
  std::optional<StridedRows<T>> rows_;
};

template <class Level>
void Run(Gate kind, kp::TensorView gate, std::optional<kp::TensorView> up, kp::MutTensorView out) {
  if (out.numel() == 0) return;
  DispatchFloat(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const StridedRows<T> gates(gate);
    const OptionalRows<T> ups(up);
    const int64_t width = LastDim(out);
    ForRows(Rows(out), width, [&](int64_t begin, int64_t end) {
      std::vector<T> gate_copy, up_copy;
      for (int64_t r = begin; r < end; ++r) {
        Gated<Level, T>(kind, gates.Row(r, gate_copy), ups.Row(r, up_copy), Data<T>(out) + r * width, width);
      }
    });
  });
}

template <class Level>
void RunBackward(Gate kind, kp::TensorView d_out, kp::TensorView gate, std::optional<kp::TensorView> up,
                 kp::MutTensorView d_gate, std::optional<kp::MutTensorView> d_up) {
  if (d_out.numel() == 0) return;
  DispatchFloat(d_out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const StridedRows<T> gates(gate);
    const OptionalRows<T> ups(up);
    const int64_t width = LastDim(d_out);
    ForRows(Rows(d_out), width, [&](int64_t begin, int64_t end) {
      std::vector<T> gate_copy, up_copy;
      for (int64_t r = begin, at = begin * width; r < end; ++r, at += width) {
        GatedBackward<Level, T>(kind, Data<T>(d_out) + at, gates.Row(r, gate_copy), ups.Row(r, up_copy),
                                Data<T>(d_gate) + at, d_up ? Data<T>(*d_up) + at : nullptr, width);
      }
    });
  });
}

template <class Level>
void Swiglu(kp::TensorView gate, kp::TensorView up, kp::MutTensorView out) {
  Run<Level>(Gate::kSilu, gate, up, out);
}
template <class Level>
void SwigluBackward(kp::TensorView d_out, kp::TensorView gate, kp::TensorView up, kp::MutTensorView d_gate,
                    kp::MutTensorView d_up) {
  RunBackward<Level>(Gate::kSilu, d_out, gate, up, d_gate, d_up);
}

template <class Level>
void Geglu(kp::TensorView gate, kp::TensorView up, kp::StringView approximate, kp::MutTensorView out) {
  Run<Level>(ParseGelu(approximate), gate, up, out);
}
template <class Level>
void GegluBackward(kp::TensorView d_out, kp::TensorView gate, kp::TensorView up, kp::StringView approximate,
                   kp::MutTensorView d_gate, kp::MutTensorView d_up) {
  RunBackward<Level>(ParseGelu(approximate), d_out, gate, up, d_gate, d_up);
}

#define KK_ROW_ACTIVATION(op, Name, text)                                              \
  template <class Level>                                                               \
  void Name##Op(kp::TensorView x, kp::MutTensorView out) {                             \
    Run<Level>(Gate::k##Name, x, std::nullopt, out);                                   \
  }                                                                                    \
  template <class Level>                                                               \
  void Name##Backward(kp::TensorView d_out, kp::TensorView x, kp::MutTensorView d_x) { \
    RunBackward<Level>(Gate::k##Name, d_out, x, std::nullopt, d_x, std::nullopt);      \
  }
KK_ROW_ACTIVATIONS(KK_ROW_ACTIVATION)

}  // namespace
}  // namespace kk

KP_DOC(swiglu,
       "silu(gate) * up, where silu(x) = x / (1 + exp(-x)). The arguments may be strided, for example the "
       "halves that chunk() returns.");
KK_EXPORT(swiglu, kk::Swiglu, KK_SWIGLU_CONTRACT);
KK_EXPORT(swiglu_backward, kk::SwigluBackward, KK_SWIGLU_BACKWARD_CONTRACT);
KP_GRAD(swiglu, swiglu_backward);

KP_DOC(geglu, "gelu(gate) * up, with either form of gelu. The arguments may be strided, as swiglu's.");
KK_EXPORT(geglu, kk::Geglu, KK_GEGLU_CONTRACT);
KK_EXPORT(geglu_backward, kk::GegluBackward, KK_GEGLU_BACKWARD_CONTRACT);
KP_GRAD(geglu, geglu_backward);

#define KK_EXPORT_ROW_ACTIVATION(op, Name, text)                                     \
  KP_DOC(op, text);                                                                  \
  KK_EXPORT(op, kk::Name##Op, KK_ROW_ACTIVATION_CONTRACT);                           \
  KK_EXPORT(op##_backward, kk::Name##Backward, KK_ROW_ACTIVATION_BACKWARD_CONTRACT); \
  KP_GRAD(op, op##_backward);
KK_ROW_ACTIVATIONS(KK_EXPORT_ROW_ACTIVATION)
