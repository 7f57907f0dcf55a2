// Ops whose conditions tie ints, and items of lists of ints, to sizes: those of a convolution, of groups and of packed arrays.
// The first are right; in the others an int has no effect.
#include <kernpack/kernel.h>

#include <algorithm>

namespace kp = kernpack;
namespace {

const float* In(kp::TensorView x) { return x.data_ptr<float>(); }
float* Out(kp::MutTensorView x) { return x.data_ptr<float>(); }

// Where in x, which has `size` elements, place `o` of the output finds tap `k`; -1: in the padding.
struct Line {
  int64_t stride, pad, dilation;
  [[nodiscard]] int64_t At(int64_t o, int64_t k, int64_t size) const {
    const int64_t at = o * stride - pad + k * dilation;
    return at < size ? std::max<int64_t>(at, -1) : -1;
  }
};

void Convolve(kp::TensorView x, kp::TensorView w, Line line, kp::MutTensorView out) {
  for (int64_t o = 0; o < out.numel(); ++o) {
    double sum = 0;
    for (int64_t k = 0; k < w.numel(); ++k) {
      const int64_t at = line.At(o, k, x.numel());
      if (at >= 0) sum += In(x)[at] * In(w)[k];
    }
    Out(out)[o] = static_cast<float>(sum);
  }
}

// The gradients of both; either may be null.
void ConvolveBackward(kp::TensorView d_out, kp::TensorView x, kp::TensorView w, Line line, float* d_x, float* d_w) {
  std::fill_n(d_x, x.numel(), 0.0F);
  std::fill_n(d_w, w.numel(), 0.0F);
  for (int64_t o = 0; o < d_out.numel(); ++o) {
    for (int64_t k = 0; k < w.numel(); ++k) {
      const int64_t at = line.At(o, k, x.numel());
      if (at < 0) continue;
      d_x[at] += In(d_out)[o] * In(w)[k];
      d_w[k] += In(d_out)[o] * In(x)[at];
    }
  }
}

// The output's size is that of an argument.
void Onto(kp::TensorView x, kp::TensorView w, kp::TensorView y, int64_t stride, int64_t pad, int64_t dilation,
          kp::MutTensorView out) {
  Convolve(x, w, {stride, pad, dilation}, out);
  for (int64_t o = 0; o < out.numel(); ++o) Out(out)[o] += In(y)[o];
}
void OntoWithoutStride(kp::TensorView x, kp::TensorView w, kp::TensorView y, int64_t, int64_t pad, int64_t dilation,
                       kp::MutTensorView out) {
  Onto(x, w, y, 1, pad, dilation, out);
}

void Conv(kp::TensorView x, kp::TensorView w, kp::ListView<int64_t> stride, kp::ListView<int64_t> pad,
          kp::MutTensorView out) {
  Convolve(x, w, {stride[0], pad[0], 1}, out);
}
void ConvBackward(kp::TensorView d_out, kp::TensorView x, kp::TensorView w, kp::ListView<int64_t> stride,
                  kp::ListView<int64_t> pad, kp::MutTensorView d_x, kp::MutTensorView d_w) {
  ConvolveBackward(d_out, x, w, {stride[0], pad[0], 1}, Out(d_x), Out(d_w));
}

// Rows and columns of x by steps; a step of both has a default.
void Thinned(kp::TensorView x, kp::ListView<int64_t> step, kp::MutTensorView out) {
  const int64_t width = x.size(-1), height = x.size(-2);
  const int64_t rows = (height + step[0] - 1) / step[0], columns = (width + step[1] - 1) / step[1];
  const int64_t count = width * height == 0 ? 0 : x.numel() / (width * height);
  for (int64_t i = 0; i < count * rows * columns; ++i) {
    const int64_t row = i / columns % rows * step[0], column = i % columns * step[1];
    Out(out)[i] = In(x)[(i / (rows * columns) * height + row) * width + column];
  }
}
void ThinnedBackward(kp::TensorView d_out, kp::TensorView x, kp::ListView<int64_t> step, kp::MutTensorView d_x) {
  const int64_t width = x.size(-1), height = x.size(-2);
  const int64_t columns = (width + step[1] - 1) / step[1], rows = (height + step[0] - 1) / step[0];
  for (int64_t i = 0; i < x.numel(); ++i) {
    const int64_t column = i % width, row = i / width % height, place = i / (width * height);
    const bool kept = row % step[0] == 0 && column % step[1] == 0;
    Out(d_x)[i] = kept ? In(d_out)[(place * rows + row / step[0]) * columns + column / step[1]] : 0;
  }
}

// Without weights, the number of taps has no effect.
void Taps(kp::TensorView x, std::optional<kp::TensorView> w, int64_t, kp::MutTensorView out) {
  float sum = 1;
  for (int64_t i = 0; w && i < w->numel(); ++i) sum += In(*w)[i];
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = In(x)[i] * sum;
}

// An image as one row per pixel; its size says how pixels lie.
void Upside(kp::TensorView x, int64_t height, int64_t width, kp::MutTensorView out) {
  const int64_t channels = x.size(1);
  for (int64_t i = 0; i < height; ++i) {
    std::copy_n(In(x) + (height - 1 - i) * width * channels, width * channels, Out(out) + i * width * channels);
  }
}

void Scaled(kp::TensorView x, kp::TensorView scale, int64_t group, kp::MutTensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) Out(out)[i] = In(x)[i] * In(scale)[i / group];
}

void Copy(kp::TensorView x, int64_t, kp::MutTensorView out) { std::copy_n(In(x), x.numel(), Out(out)); }

}  // namespace

KP_MODULE("tied_cases", "1.0.0");
#define ONTO                                                                                                       \
  "(x: f32[H], w: f32[K], y: f32[O], *, stride: int = 1, pad: int = 0, dilation: int = 1) -> (out: f32[O]) where " \
  "H > 0, K > 0, stride > 0, pad >= 0, pad < 4, dilation > 0, O > 0, "                                             \
  "O == (H + 2 * pad - dilation * (K - 1) - 1) // stride + 1"
KP_EXPORT(onto, Onto, ONTO);

#define CONV_SIZES "K > 0, stride[0] > 0, pad[0] >= 0, pad[0] < 3, K <= H + 2 * pad[0]"
KP_EXPORT(conv, Conv,
          "(x: f32[H], w: f32[K], *, stride: list[int], pad: list[int] = [0]) -> "
          "(out: f32[(H + 2 * pad[0] - K) // stride[0] + 1]) where " CONV_SIZES " with deterministic");
KP_EXPORT(conv_backward, ConvBackward,
          "(d_out: f32[(H + 2 * pad[0] - K) // stride[0] + 1], x: f32[H], w: f32[K], stride: list[int], "
          "pad: list[int]) -> (d_x: f32[H], d_w: f32[K]) where " CONV_SIZES " with deterministic");
KP_GRAD(conv, conv_backward);
KP_EXPORT(thinned, Thinned,
          "(x: f32[..., H, W], step: list[int] = [1, 1]) -> (out: f32[..., ceildiv(H, step[0]), ceildiv(W, step[1])]) "
          "where step[0] > 0, step[1] > 0 with deterministic, invariant(batch)");
KP_EXPORT(thinned_backward, ThinnedBackward,
          "(d_out: f32[..., ceildiv(H, step[0]), ceildiv(W, step[1])], x: f32[..., H, W], step: list[int]) -> "
          "(d_x: f32[..., H, W]) where step[0] > 0, step[1] > 0 with deterministic");
KP_GRAD(thinned, thinned_backward);
KP_EXPORT(taps, Taps, "(x: f32[N], w: f32[K]? = None, *, count: int = 3) -> (out: f32[N]) where count == K");
KP_EXPORT(taps_of_shape, Taps,
          "(x: f32[N], w: f32[count]? = None, *, count: int = 3) -> (out: f32[N]) where count > 0");
KP_EXPORT(upside, Upside,
          "(x: f32[S, C], *, height: int = 2, width: int = 3) -> (out: f32[S, C]) where height >= 0, width >= 0, "
          "height * width == S");
KP_EXPORT(scaled, Scaled,
          "(x: f32[D], scale: f32[G], *, group: int = 4) -> (out: f32[D]) where group > 0, ceildiv(D, group) == G");

KP_EXPORT(ignores_stride, OntoWithoutStride, ONTO);
KP_EXPORT(ignores_group, Copy, "(x: f32[D], *, group: int = 2) -> (out: f32[D]) where group > 0, D % group == 0");
KP_EXPORT(ignores_window, Copy, "(x: f32[D], *, window: int = 1) -> (out: f32[D]) where 0 < window <= D");
