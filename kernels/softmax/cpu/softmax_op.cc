// softmax with an optional mask, and its gradient. The mask's: softmax_mask.cc; tangents and second order: softmax_second.cc.
#include <memory>
#include <type_traits>

#include "mask_rows.h"
#include "softmax/contract.h"

namespace kk {
namespace {

// Where a row's exponentials wait to be scaled: in the result if it has the precision, else in a buffer of their own.
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t width) {
    if constexpr (!std::is_same_v<T, ComputeType<T>>) buffer_.reset(new ComputeType<T>[static_cast<size_t>(width)]);
  }
  ComputeType<T>* For(T* out) {
    if constexpr (std::is_same_v<T, ComputeType<T>>) {
      return out;
    } else {
      return buffer_.get();
    }
  }

 private:
  std::unique_ptr<ComputeType<T>[]> buffer_;
};

template <class Level, class T>
void Unmasked(kp::TensorView x, T* out) {
  const int64_t width = LastDim(x);
  ForRows(Rows(x), width, [&](int64_t begin, int64_t end) {
    Scratch<T> scratch(width);
    for (int64_t at = begin * width; at < end * width; at += width) {
      SoftmaxRow<Level, T, void>(Data<T>(x) + at, nullptr, out + at, scratch.For(out + at), width);
    }
  });
}

template <class Level, class T, class Mask>
void Masked(kp::TensorView x, kp::ShapeView mask_shape, const Mask* mask, T* out) {
  const int64_t width = LastDim(x);
  ForRows(Rows(x), width, [&](int64_t begin, int64_t end) {
    Scratch<T> scratch(width);
    MaskRows rows(x.sizes(), mask_shape, begin);
    for (int64_t at = begin * width; at < end * width; at += width, rows.Next()) {
      SoftmaxRow<Level, T, Mask>(Data<T>(x) + at, mask + rows.row() * width, out + at, scratch.For(out + at), width);
    }
  });
}

// An additive mask is read as it is if the kernels can mix its type with x's; else a converted copy.
template <class Level, class T>
void Added(kp::TensorView x, kp::TensorView mask, T* out) {
  using S = ComputeType<T>;
  kp::dispatch<float, double, kp::half, kp::bfloat16>(mask.dtype(), [&](auto t) {
    using M = typename decltype(t)::type;
    using Stored = typename Storage<M>::Type;
    if constexpr (std::is_same_v<Stored, T> || std::is_same_v<Stored, S>) {
      Masked<Level, T, Stored>(x, mask.sizes(), Data<Stored>(mask), out);
    } else {
      const int64_t count = mask.numel();
      const std::unique_ptr<S[]> converted(new S[static_cast<size_t>(count)]);
      for (int64_t i = 0; i < count; ++i) converted[i] = static_cast<S>(Data<M>(mask)[i]);
      Masked<Level, T, S>(x, mask.sizes(), converted.get(), out);
    }
  });
}

template <class Level>
void Softmax(kp::TensorView x, std::optional<kp::TensorView> mask, kp::MutTensorView probs) {
  if (x.numel() == 0) return;
  DispatchFloat(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    T* out = Data<T>(probs);
    if (!mask) {
      Unmasked<Level, T>(x, out);
    } else if (mask->dtype() == kp::bool_) {
      Masked<Level, T, uint8_t>(x, mask->sizes(), Data<uint8_t>(*mask), out);
    } else {
      Added<Level, T>(x, *mask, out);
    }
  });
}

template <class Level>
void SoftmaxBackward(kp::TensorView d_probs, kp::TensorView probs, kp::MutTensorView d_x) {
  if (probs.numel() == 0) return;
  DispatchFloat(probs.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    ForRows(Rows(probs), LastDim(probs), [&](int64_t begin, int64_t end) {
      SoftmaxBackwardRows<Level, T>(Data<T>(d_probs), Data<T>(probs), Data<T>(d_x), LastDim(probs), begin, end);
    });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(softmax,
       "exp(x + mask) / sum(exp(x + mask)) over the last dimension. A boolean mask keeps the elements "
       "where it is True; any other mask is added to x. A row in which nothing is kept gives zeros.");
KK_EXPORT(softmax, kk::Softmax, KK_SOFTMAX_CONTRACT);
KK_EXPORT(softmax_backward, kk::SoftmaxBackward, KK_SOFTMAX_BACKWARD_CONTRACT);
KP_GRAD(softmax, softmax_backward);
