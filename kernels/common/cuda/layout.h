// Rows (along the last dimension) of a tensor of any strides, as the host passes them by value: read by nvcc and by the host's compiler.
#pragma once

namespace kk_cuda {

constexpr int kLeading = 8;  // dimensions before the last one, at most

struct RowLayout {
  int dims;
  long long size[kLeading], stride[kLeading];  // in elements, the last of the leading dimensions first
  long long step;  // of the last dimension
};

enum NumberKind : int { kNumberF32, kNumberF64, kNumberF16, kNumberBf16 };

struct NormParams {
  RowLayout x;  // the residual is contiguous, as x then is
  NumberKind weight;  // of weight and bias
  int width, has_bias;
  double eps, per_element;  // per_element: 1 / width
  long long rows;
};

struct NormBackwardParams {
  NormParams norm;
  int parts;
  int shared;  // a part's sums are formed in shared memory
};

struct SumPartsParams {
  long long count, stride;  // of results; from part to part
  int parts;
  NumberKind kind;  // of the results
  double scale;
};

enum SoftmaxMask : int { kUnmasked, kKept, kAdded };  // kKept: of bools

struct SoftmaxParams {
  RowLayout mask;  // a row for each row of x, the same one where it is broadcast
  SoftmaxMask kind;
  NumberKind added;  // of an added mask
  int width;
  long long rows;
};

struct SoftmaxMaskBackwardParams {
  RowLayout first, repeated;  // the first row of x for each row of the mask, and the further ones from there, in rows
  long long mask_rows, repeats;
  int parts, width;
};

struct RopeParams {
  RowLayout x, out, angles;  // angles: a row for each position of x, the same one where they are broadcast
  int heads, width, pairs, interleaved, backward;
  long long rows;
};

struct EmbeddingParams {
  long long table_rows, row_bytes;
  long long left_out;  // the index whose row is zeros; negative: none
  int wide;  // indices are i64, else i32
};

struct EmbeddingBackwardParams {
  long long table_rows, count, width;  // of indices; of a row
  long long left_out;  // the index whose row gets nothing; negative: none
  int wide;
};

struct CrossEntropyParams {
  RowLayout logits;
  long long ignored;  // the target that doesn't count
  int classes, wide;
  float smoothing, z_loss;
  int chunks;  // the rows are read in chunks
};

}  // namespace kk_cuda
