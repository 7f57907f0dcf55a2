// Attention beside a cache of keys and values in pages: plain pointers, compiled once per CPU level.
#pragma once

#include "../attention/attention.h"

namespace kk {

// X(type): what a cache may hold. int8_t is scaled, a scale for each key of each group.
#define KK_CACHE_TYPES(X) X(float) X(Bf16) X(F16) X(int8_t)

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
};

constexpr int64_t kPagedRows = 66;  // of a task: a multiple of every level's tile

// Floats of scratch memory, 64-byte aligned, for tasks of `rows` rows.
inline int64_t PagedScratch(int64_t rows, int64_t width) {
  return rows * kAttentionKeys + 3 * kAttentionKeys * PaddedWidth(width);
}

// The queries of a task as PagedRun reads them, [rows, PaddedWidth]: times the scale, zeros beyond their width. `q` is the first
// one of the first head.
template <class Level, class T>
void PagedQueries(const T* q, const AttentionStrides& strides, const AttentionTask& task, int64_t shared, int64_t width,
                  float scale, float* to);

template <class Level, class C>
void PagedRun(const PagedArgs<C>& args, const AttentionTask& task, const float* queries, const AttentionState& state,
              float* scratch);

// `count` values to the cache: as they are, or, to bytes, as *scale * byte.
template <class Level, class T, class C>
void StoreCached(const T* from, int64_t count, C* to, float* scale);

}  // namespace kk
