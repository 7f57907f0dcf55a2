// gelu.
#include "common.h"

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
void GeluOp(kp::TensorView x, kp::StringView approximate, kp::TensorView out) {
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    ForElements(x.numel(), [&](int64_t at, int64_t count) {
      Gelu<Level, T>(Kind(approximate), Data<T>(x) + at, Data<T>(out) + at, count);
    });
  });
}

template <class Level>
void GeluBackwardOp(kp::TensorView d_out, kp::TensorView x, kp::StringView approximate, kp::TensorView d_x) {
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    ForElements(x.numel(), [&](int64_t at, int64_t count) {
      GeluBackward<Level, T>(Kind(approximate), Data<T>(d_out) + at, Data<T>(x) + at, Data<T>(d_x) + at, count);
    });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(gelu, "x times the standard normal distribution function of x, exact or in its tanh form.");
KK_EXPORT(gelu, kk::GeluOp,
          "(x: T[...], *, approximate: str in {\"none\", \"tanh\"} = \"none\") -> (out: T[...]) "
          "where T in {f32, f64, f16, bf16}");
KK_EXPORT(gelu_backward, kk::GeluBackwardOp,
          "(d_out: T[...], x: T[...], *, approximate: str in {\"none\", \"tanh\"}) -> (d_x: T[...]) "
          "where T in {f32, f64, f16, bf16}");
KP_GRAD(gelu, gelu_backward);
