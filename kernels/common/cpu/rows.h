// The inner loops: plain pointers, a range of rows, no allocation unless said so. Level is x86_64_v2, _v3 or _v4; each function is
// compiled once per level. T is float, double, Bf16 or F16. Tensors are contiguous; a row is the last dimension.
#pragma once

#include "types.h"

namespace kk {

// Weights have the type that rows are computed in: under autocast they aren't of x's.
template <class T>
struct NormArgs {
  const T* x;  // [rows, width]
  const ComputeType<T>* weight;  // [width]
  const ComputeType<T>* bias;  // [width]; nullable
  T* out;  // [rows, width]
  int64_t width;
  double eps;

  // The same for row `row` alone, of which x lies elsewhere.
  NormArgs Row(int64_t row, const T* at) const { return {at, weight, bias, out + row * width, width, eps}; }
};

template <class Level, class T>
void LayerNormRows(const NormArgs<T>& args, int64_t begin, int64_t end);
template <class Level, class T>
void RmsNormRows(const NormArgs<T>& args, int64_t begin, int64_t end);

template <class T>
struct NormBackwardArgs {
  const T* d_out;  // [rows, width]
  const T* x;  // [rows, width]
  const ComputeType<T>* weight;  // [width]
  T* d_x;  // [rows, width]
  ComputeType<T>* d_weight;  // [width], added to; null where the op has none
  ComputeType<T>* d_bias;  // [width], added to; likewise
  int64_t width;
  double eps;

  NormBackwardArgs Row(int64_t row, const T* at) const {
    return {d_out + row * width, at, weight, d_x + row * width, d_weight, d_bias, width, eps};
  }
};

template <class Level, class T>
void LayerNormBackwardRows(const NormBackwardArgs<T>& args, int64_t begin, int64_t end);
template <class Level, class T>
void RmsNormBackwardRows(const NormBackwardArgs<T>& args, int64_t begin, int64_t end);

// Tensors [items, groups, channels, size]; a row is a group of an item, row % groups its group.
template <class T>
struct GroupNormArgs {
  const T* x;
  const ComputeType<T>* weight;  // [groups, channels]
  const ComputeType<T>* bias;  // [groups, channels]; nullable
  int64_t groups, channels, size;
  double eps;
  int64_t width() const { return channels * size; }
};

template <class Level, class T>
void GroupNormRows(const GroupNormArgs<T>& args, T* out, int64_t begin, int64_t end);
// of_weight and of_bias: [items, groups, channels], what each item adds to the gradients.
template <class Level, class T>
void GroupNormBackwardRows(const GroupNormArgs<T>& args, const T* d_out, T* d_x, ComputeType<T>* of_weight,
                           ComputeType<T>* of_bias, int64_t begin, int64_t end);

// Mask is uint8_t (0: left out), T or ComputeType<T> (added), or void (none). Scratch has `width` items, and may be `out`.
template <class Level, class T, class Mask>
void SoftmaxRow(const T* x, const Mask* mask, T* out, ComputeType<T>* scratch, int64_t width);
template <class Level, class T>
void SoftmaxBackwardRows(const T* d_out, const T* out, T* d_x, int64_t width, int64_t begin, int64_t end);
// Adds half of a row's gradient to half_sums.
template <class Level, class T>
void SoftmaxBackwardAddRow(const T* d_out, const T* out, ComputeType<T>* half_sums, int64_t width);

enum class GeluKind { kErf, kTanh };

template <class Level, class T>
void Gelu(GeluKind kind, const T* x, T* out, int64_t count);
template <class Level, class T>
void GeluBackward(GeluKind kind, const T* d_out, const T* x, T* d_x, int64_t count);

template <class Level, class T>
void L2NormalizeRows(const T* x, T* out, int64_t width, double eps, int64_t begin, int64_t end);
template <class Level, class T>
void L2NormalizeBackwardRows(const T* d_out, const T* x, T* d_x, int64_t width, double eps, int64_t begin, int64_t end);

// x as floats.
template <class Level, class T>
void ToFloats(const T* x, int64_t count, float* out);

// out[j] = sum over k of scale * x[rows[k], j]. In is Out or ComputeType<Out>. `rows` has `count` items.
template <class Level, class In, class Out>
void SumRows(const In* x, const int64_t* rows, int64_t count, double scale, Out* out, int64_t width);
// out[j] = sum over k of weights[k] * x[rows[k], j].
template <class Level, class T>
void SumWeightedRows(const T* x, const int64_t* rows, const ComputeType<T>* weights, int64_t count, T* out,
                     int64_t width);
// out[j] = the largest x[rows[k], j]; a NaN if there is one. `count` is at least 1.
template <class Level, class T>
void MaxRows(const T* x, const int64_t* rows, int64_t count, T* out, int64_t width);

// Tensors [n, width] whose rows are `stride` apart: a softmax of each column.
template <class Level, class T>
void SoftmaxColumns(const T* x, T* out, int64_t n, int64_t width, int64_t stride);
template <class Level, class T>
void SoftmaxColumnsBackward(const T* d_out, const T* out, T* d_x, int64_t n, int64_t width, int64_t stride);

}  // namespace kk
