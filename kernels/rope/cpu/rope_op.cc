// rope, apply_rope. The rotation is linear in x: its tangent is the same rotation, its gradient the inverse one.
#include "common/cpu/strided.h"
#include "rope/contract.h"
#include "rope.h"

namespace kk {
namespace {

// The angles of each position. They belong to the dimension before the heads', and may be the same for a whole batch.
class Angles {
 public:
  Angles(kp::TensorView x, kp::TensorView cos, kp::TensorView sin, bool interleaved, float sign)
      : x_(x), angles_(cos), cos_(Data<float>(cos)), sin_(Data<float>(sin)) {
    row_ = {nullptr, nullptr, cos.size(-1), x.size(-1), interleaved, sign};
  }

  // For position `row` of x, [..., S, H, D].
  RopeRow At(int64_t row) const {
    int64_t at = 0, scale = 1;
    for (int64_t d = x_.dim() - 3, a = angles_.dim() - 2; a >= 0; --d, --a) {
      if (angles_.size(a) != 1) at += row % x_.size(d) * scale;
      scale *= angles_.size(a);
      row /= x_.size(d);
    }
    RopeRow result = row_;
    result.cos = cos_ + at * row_.pairs, result.sin = sin_ + at * row_.pairs;
    return result;
  }

 private:
  kp::TensorView x_, angles_;
  const float *cos_, *sin_;
  RopeRow row_;
};

// use(row, heads, from): the heads of each position, `from` being where the first of them begins, in elements. A head at a time
// where its elements don't lie beside each other.
template <class Use>
void ForPositions(kp::TensorView x, const Angles& angles, bool in_place, Use use) {
  const int64_t heads = x.size(-2), at_once = in_place ? heads : 1;
  ForRows(x.numel() / x.size(-1) / heads, heads * x.size(-1), [&](int64_t begin, int64_t end) {
    for (int64_t position = begin; position < end; ++position) {
      const RopeRow row = angles.At(position);
      for (int64_t h = 0; h < heads; h += at_once) use(row, at_once, position * heads + h);
    }
  });
}

template <class Level>
void Run(kp::TensorView x, const Angles& angles, kp::MutTensorView out) {
  if (x.numel() == 0) return;
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const StridedRows<T> from(x);
    const int64_t width = LastDim(x);
    ForPositions(x, angles, from.in_place(), [&](const RopeRow& row, int64_t heads, int64_t first) {
      std::vector<T> copy;
      Rope<Level, T>(row, heads, from.Row(first, copy), x.stride(-2), Data<T>(out) + first * width, width);
    });
  });
}

template <class Level>
void RopeOp(kp::TensorView x, kp::TensorView cos, kp::TensorView sin, bool interleaved, kp::MutTensorView out) {
  Run<Level>(x, {x, cos, sin, interleaved, 1}, out);
}

template <class Level>
void RopeBackward(kp::TensorView d_out, kp::TensorView cos, kp::TensorView sin, bool interleaved,
                  kp::MutTensorView d_x) {
  Run<Level>(d_out, {d_out, cos, sin, interleaved, -1}, d_x);
}

template <class Level>
void ApplyRope(kp::MutTensorView x, kp::TensorView cos, kp::TensorView sin, bool interleaved) {
  if (x.numel() == 0) return;
  const Angles angles(x, cos, sin, interleaved, 1);
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const StridedRows<T> from(x);
    ForPositions(x, angles, from.in_place(), [&](const RopeRow& row, int64_t heads, int64_t first) {
      std::vector<T> copy;
      T* to = Data<T>(x) + from.Offset(first);
      T* rotated = const_cast<T*>(from.Row(first, copy));  // x itself, which is written, or the copy
      Rope<Level, T>(row, heads, rotated, x.stride(-2), rotated, x.stride(-2));
      if (rotated != to) {
        for (int64_t i = 0; i < LastDim(x); ++i) to[i * from.step()] = rotated[i];
      }
    });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(rope,
       "Rotary position embedding: rotates pairs among the first 2 R elements of each head by the angles "
       "of their position. A pair is the elements i and R + i, or, if interleaved, 2 i and 2 i + 1.");
KK_EXPORT(rope, kk::RopeOp, KK_ROPE_CONTRACT);
KK_EXPORT(rope_backward, kk::RopeBackward, KK_ROPE_BACKWARD_CONTRACT);
KP_GRAD(rope, rope_backward);
KK_EXPORT(rope_jvp, kk::RopeOp, KK_ROPE_JVP_CONTRACT);
KP_JVP(rope, rope_jvp);
KK_EXPORT(rope_backward_backward, kk::RopeOp,
          "(d_d_x: T[..., S, H, D], " KK_ROPE_ANGLES ") -> (d_d_out: T[..., S, H, D])" KK_ROPE_TYPES);
KP_GRAD(rope_backward, rope_backward_backward);
KK_EXPORT(rope_backward_jvp, kk::RopeBackward,
          "(t_d_out: T[..., S, H, D], " KK_ROPE_ANGLES ") -> (t_d_x: T[..., S, H, D])" KK_ROPE_TYPES);
KP_JVP(rope_backward, rope_backward_jvp);
KP_DOC(apply_rope, "rope, in place.");
KK_EXPORT(apply_rope, kk::ApplyRope, KK_APPLY_ROPE_CONTRACT);
