// gelu.
#include "activations/contract.h"
#include "gelu_derivatives.h"

#include "common/cpu/ops.h"

namespace kk {
namespace {

constexpr int64_t kBlock = 1024;  // threads get whole blocks: only the last one has an odd end

// The signature has made sure that it is one of the two.
GeluKind Kind(kp::StringView approximate) { return approximate == "tanh" ? GeluKind::kTanh : GeluKind::kErf; }

// f(offset, count) over a tensor's elements.
template <class F>
void ForElements(int64_t count, F f) {
  ForRows((count + kBlock - 1) / kBlock, kBlock,
          [&](int64_t begin, int64_t end) { f(begin * kBlock, std::min(end * kBlock, count) - begin * kBlock); });
}

template <class Level>
void GeluOp(kp::TensorView x, kp::StringView approximate, kp::MutTensorView out) {
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    ForElements(x.numel(), [&](int64_t at, int64_t count) {
      Gelu<Level, T>(Kind(approximate), Data<T>(x) + at, Data<T>(out) + at, count);
    });
  });
}

template <class Level>
void GeluBackwardOp(kp::TensorView d_out, kp::TensorView x, kp::StringView approximate, kp::MutTensorView d_x) {
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    ForElements(x.numel(), [&](int64_t at, int64_t count) {
      GeluBackward<Level, T>(Kind(approximate), Data<T>(d_out) + at, Data<T>(x) + at, Data<T>(d_x) + at, count);
    });
  });
}

// Null where there is no tensor.
template <class T, class View>
auto From(const std::optional<View>& tensor, int64_t at) {
  return tensor ? Data<T>(*tensor) + at : nullptr;
}

void GeluSecond(kp::StringView approximate, kp::TensorView d_out, kp::TensorView x,
                std::optional<kp::TensorView> t_d_out, std::optional<kp::TensorView> t_x,
                std::optional<kp::MutTensorView> t_out, kp::MutTensorView t_d_x) {
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    ForElements(x.numel(), [&](int64_t at, int64_t count) {
      GeluTangents<T>({Kind(approximate), count, Data<T>(d_out) + at, Data<T>(x) + at, From<T>(t_d_out, at),
                       From<T>(t_x, at), From<T>(t_out, at), Data<T>(t_d_x) + at});
    });
  });
}

void GeluBackwardBackward(kp::TensorView d_d_x, kp::TensorView d_out, kp::TensorView x, kp::StringView approximate,
                          kp::MutTensorView d_d_out, kp::MutTensorView d_x) {
  GeluSecond(approximate, d_out, x, std::nullopt, d_d_x, d_d_out, d_x);
}

void GeluBackwardJvp(kp::TensorView d_out, kp::TensorView x, std::optional<kp::TensorView> t_d_out,
                     std::optional<kp::TensorView> t_x, kp::StringView approximate, kp::MutTensorView t_d_x) {
  GeluSecond(approximate, d_out, x, t_d_out, t_x, std::nullopt, t_d_x);
}

}  // namespace
}  // namespace kk

KP_DOC(gelu,
       "x * Phi(x), where Phi is the standard normal distribution function: exact, or the tanh "
       "approximation.");
KK_EXPORT(gelu, kk::GeluOp, KK_GELU_CONTRACT);
KK_EXPORT(gelu_backward, kk::GeluBackwardOp, KK_GELU_BACKWARD_CONTRACT);
KP_GRAD(gelu, gelu_backward);

KK_EXPORT(gelu_jvp, kk::GeluBackwardOp, KK_GELU_JVP_CONTRACT);
KP_JVP(gelu, gelu_jvp);
KP_EXPORT(gelu_backward_backward, kk::GeluBackwardBackward,
          "(d_d_x: T[...], d_out: T[...], x: T[...], *, approximate: str in {\"none\", \"tanh\"}) "
          "-> (d_d_out: T[...], d_x: T[...]) where T in {f32, f64, f16, bf16} with deterministic");
KP_GRAD(gelu_backward, gelu_backward_backward);
KP_EXPORT(gelu_backward_jvp, kk::GeluBackwardJvp,
          "(d_out: T[...], x: T[...], t_d_out: T[...]?, t_x: T[...]?, *, approximate: str in {\"none\", \"tanh\"}) "
          "-> (t_d_x: T[...]) where T in {f32, f64, f16, bf16} with deterministic");
KP_JVP(gelu_backward, gelu_backward_jvp);
