// Attention beside a cache of keys and values in pages: plain pointers, compiled once per CPU level.
#pragma once

#include "attention.h"

namespace kk {

// A cache [pages, page, groups, width]: strides in elements, that of the last dimension is 1.
template <class C>
struct PagedCache {
  const C* data;
  int64_t page_stride, row_stride, group_stride;
  const float* scales;  // [pages, page, groups]; null unless C is int8_t
};

template <class C>
struct PagedArgs {
  PagedCache<C> keys, values;
  int64_t page, groups, width;  // rows of a page, heads of the cache, their size
  int64_t queries, shared;  // of an item; heads of q that share one of the cache
  const int32_t* tables;  // [batch, table_size]
  int64_t table_size;
  const int32_t* lengths;  // [batch]: keys so far, those of the queries included
  int64_t window;  // how many keys a query sees at most, the last ones; 0: all
  float soft_cap;  // 0: none
  const float* sinks;  // [heads of q], see AttentionArgs; null: none
};

// The level that computes queries of type T beside a cache of C.
template <class Level, class T, class C>
using PagedLevel = typename Bf16Level<Level, std::conditional_t<std::is_same_v<T, C>, T, float>>::Type;

// Queries where they lie. `data` is the first one of the first head.
template <class T>
struct PagedQueries {
  const T* data;
  AttentionStrides strides;
  float scale;
};

// Floats of scratch memory, 64-byte aligned, for tasks of `rows` rows.
inline int64_t PagedScratch(int64_t rows, int64_t width) {
  const int64_t padded = PaddedWidth(width);
  if (rows <= kFewRows) return rows * (padded + kAttentionKeys);
  return rows * padded + 2 * kAttentionKeys * padded + AttentionScratch(rows, width);
}

// Level: PagedLevel.
template <class Level, class T, class C>
void PagedRun(const PagedArgs<C>& args, const PagedQueries<T>& queries, const AttentionTask& task,
              const AttentionState& state, float* scratch);

// `count` values to the cache: as they are, or, to bytes, as *scale * byte.
template <class Level, class T, class C>
void StoreCached(const T* from, int64_t count, C* to, float* scale);

}  // namespace kk
