// Parameters that the host passes to the attention kernels, by value: read by nvcc and by the host's compiler.
#pragma once

namespace kk_cuda {

// In elements. `row` is that of the second dimension, the queries or keys.
struct Strides {
  long long batch, row, head, width;
};

enum MaskKind : int { kNoMask, kBoolMask, kFloatMask, kHalfMask, kBfloatMask };

// A mask [batch, heads, queries, keys]; strides are 0 where it is the same for all.
struct MaskLayout {
  long long batch, head, row, key;
  MaskKind kind;
};

struct AttentionParams {
  Strides q, k, v;
  MaskLayout mask;
  int batch, queries, keys, groups, shared, width;  // `shared` heads of q, one behind the other, share one of k and v
  float factor, cap;  // a score in powers of two: cap == 0: dot * factor, else tanh(dot * factor) * cap
  int causal, has_lengths;
  int window;  // 0: none
};

enum ElementKind : int { kF32, kF16, kBf16 };

// Of the gradient of a mask [batch, heads, rows, keys].
struct MaskGradientParams {
  int batch, heads, rows;
  ElementKind kind;
};

// Of the gradient of sinks: `rows` are the queries of all items.
struct SinkParams {
  long long rows;
  int queries, heads, width;
};

// Items are cut after so many keys, whatever else is in the batch: so their results don't depend on it.
constexpr int kPartKeys = 256;

struct PagedParams {
  Strides q, k, v;  // of caches: of [pages, rows of a page, groups, width]
  int queries, groups, shared, width;
  int pages, page, table_size;  // `page` rows each
  float factor, cap;  // as above
  int window;  // 0: none
  ElementKind kind;  // of q and the result
  int vectors;  // eight elements of a row lie at a multiple of their size, 16 bytes at most
  int parts;  // of kPartKeys keys: as many as the longest item may have
};

}  // namespace kk_cuda
