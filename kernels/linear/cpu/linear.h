// Products of activations with packed weights: plain pointers, compiled once per CPU level.
#pragma once

#include "common/cpu/types.h"
#include "linear/activation.h"
#include "linear/packed.h"

namespace kk {

// X(type): what activations and results may be. They are computed in f32, so f64 isn't among them.
#define KK_LINEAR_TYPES(X) X(float) X(Bf16) X(F16)

// How a product is computed: activations as integers of 8 bits, of two times 8 bits, as bf16 pairs or f32; each added up in f32.
enum class LinearCompute { kInt8, kInt16, kBf16, kFloat };

// Two bytes stand for kHighByte * the first + the second; the largest activation of a block is kHighByte * 127.
constexpr int32_t kHighByte = 128;

// Rows of activations, made ready for a way to compute. Which of the arrays are set follows from it.
struct Activations {
  LinearCompute compute;
  int64_t rows, columns;
  float* floats;  // [rows, columns]: kFloat
  uint16_t* halves;  // [rows, columns] of bf16: kBf16
  int8_t* bytes;  // [rows, columns]: kInt8 and kInt16 without words, with ...
  int8_t* low_bytes;  // [rows, columns]: kInt16 without words, with ...
  int16_t* words;  // [rows, columns]: kInt8 and kInt16 where LinearChoice::Words says so, with ...
  float* scales;  // [rows, blocks] ...
  float* sums;  // [rows, blocks] of what the bytes of a block stand for
  float* half_sums;  // [rows, blocks, 2]
};

// The result [rows, n] of type T: activation(product + bias) + residual. What is added may be null.
template <class T>
struct LinearResult {
  T* out;
  const T* bias;  // [n]
  const T* residual;  // [rows, n]
  Activation activation;
};

// Rows [row, row + rows), columns [column, column + count) of the result from sums[rows][stride].
template <class Level, class T>
void StoreSums(const LinearResult<T>& result, int64_t n, int64_t row, int64_t rows, int64_t column, int64_t count,
               const float* sums, int64_t stride);

// The gradient of a row of products: to = d_out * activation'(product + bias).
template <class Level, class T>
void ActivationSlopes(Activation activation, const T* d_out, const float* product, const T* bias, float* to,
                      int64_t count);

// The fastest kind on the level that is nearly exact: kInt16 for as many rows as it is faster than kBf16 or kFloat, then the latter.
template <class Level>
struct LinearChoice {
  static LinearCompute Automatic(int64_t rows);
  // True if a weight of this format takes integer activations as words.
  static bool Words(PackedFormat format);
};

// Rows [begin, end) of x, [rows, columns].
template <class Level, class T>
void PrepareActivations(const T* x, const Activations& to, int64_t begin, int64_t end);

// Groups of 16 rows of the weights, all rows of the activations.
template <class Level, class T>
void LinearRows(const PackedWeight& weight, const Activations& x, const LinearResult<T>& result, int64_t begin,
                int64_t end);

// A tile of the result for kBf16 and kFloat: panel `panel` of the weights and `rows` rows of the activations from `row` on.
constexpr int64_t kPanelRows = 64;  // of the weights
constexpr int64_t kPanelColumns = 512;  // that are unpacked at a time
constexpr int64_t kPanelActivations = 256;  // rows of the activations, at most
// In floats, 64-byte aligned.
constexpr int64_t kPanelScratch = kPanelRows * (kPanelColumns + kPanelActivations);

template <class Level, class T>
void LinearPanel(const PackedWeight& weight, const Activations& x, const LinearResult<T>& result, int64_t panel,
                 int64_t row, int64_t rows, float* scratch);

}  // namespace kk
