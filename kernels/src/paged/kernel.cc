// Attention beside a cache in pages. Few rows, as in decoding: each key is read once, as it lies, and multiplied with all of them. More rows:
// chunks of keys are copied as floats, then multiplied by tiles.
#include "paged.h"

#include <cmath>

#include "../attention/chunk.h"
#include "../attention/few_rows.h"
#include "../tiles/tile.h"

namespace kk {
namespace {

// Where the keys and values of a chunk lie, and what they are scaled with.
template <class C>
struct Chunk {
  const C *keys[kAttentionKeys], *values[kAttentionKeys];
  float key_scales[kAttentionKeys], value_scales[kAttentionKeys];

  Chunk(const PagedArgs<C>& args, const AttentionTask& task, int64_t key, int64_t count) {
    const int32_t* table = args.tables + task.batch * args.table_size;
    int64_t entry = key / args.page, row = key % args.page;
    for (int64_t j = 0; j < count; ++j, ++row) {
      if (row == args.page) ++entry, row = 0;
      const int64_t page = table[entry];
      const auto at = [&](const PagedCache<C>& of) {
        return of.data + page * of.page_stride + row * of.row_stride + task.group * of.group_stride;
      };
      keys[j] = at(args.keys), values[j] = at(args.values);
      if constexpr (std::is_same_v<C, int8_t>) {
        const int64_t scale = (page * args.page + row) * args.groups + task.group;
        key_scales[j] = args.keys.scales[scale], value_scales[j] = args.values.scales[scale];
      }
    }
  }
};

template <class C>
void CopyRows(const C* const* rows, int64_t count, int64_t width, int64_t padded, float* to) {
  for (int64_t j = 0; j < count; ++j) {
    for (int64_t d = 0; d < padded; d += kLanes) {
      Pack<float>::Store(to + j * padded + d, d < width ? LoadCached(rows[j], d, width) : VF{});
    }
  }
}

// Scratch memory of a task of many rows.
struct Scratch {
  float *scores, *keys, *rows, *values;
  Scratch(float* memory, int64_t count, int64_t padded)
      : scores(memory),
        keys(scores + count * kAttentionKeys),
        rows(keys + kAttentionKeys * padded),
        values(rows + kAttentionKeys * padded) {}
};

}  // namespace

template <class Level, class T>
void PagedQueries(const T* q, const AttentionStrides& strides, const AttentionTask& task, int64_t shared, int64_t width,
                  float scale, float* to) {
  GatherQueries(q, strides, task, shared, width, scale, to);
}

template <class Level, class C>
void PagedRun(const PagedArgs<C>& args, const AttentionTask& task, const float* queries, const AttentionState& state,
              float* memory) {
  const int64_t padded = PaddedWidth(args.width), rows = task.count * args.shared;
  const int64_t length = args.lengths[task.batch];
  const Scratch scratch(memory, rows, padded);
  const bool few = rows <= kFewRows;
  std::fill(state.sums, state.sums + rows * padded, 0.0f);
  std::fill(state.largest, state.largest + rows, -INFINITY);
  std::fill(state.total, state.total + rows, 0.0f);
  // A query sees the keys before `seen`, and of those the last `window`.
  const auto seen = [&](int64_t query) { return std::clamp<int64_t>(length - args.queries + query + 1, 0, length); };
  const auto first = [&](int64_t query) {
    return args.window > 0 ? std::max<int64_t>(0, length - args.queries + query + 1 - args.window) : 0;
  };
  const int64_t begin = std::max(task.first_key, first(task.query));
  const int64_t end = std::min(task.last_key, seen(task.query + task.count - 1));
  for (int64_t key = begin; key < end; key += kAttentionKeys) {
    const int64_t count = std::min(kAttentionKeys, end - key);
    const int64_t columns = (count + kLanes - 1) / kLanes * kLanes;
    const Chunk<C> chunk(args, task, key, count);
    if (few) {
      InBlocks(rows, [&](auto n, int64_t r) {
        FewScores<decltype(n)::value>(chunk.keys, chunk.values, count, queries + r * padded, args.width, padded,
                                      scratch.scores + r * kAttentionKeys);
      });
    } else {
      CopyRows(chunk.keys, count, args.width, padded, scratch.rows);
      TransposeKeys(scratch.rows, padded, count, args.width, scratch.keys);
      Multiply<FloatSteps>(rows, columns, queries, padded, scratch.keys, kAttentionKeys, args.width, scratch.scores,
                           kAttentionKeys, false);
    }
    for (int64_t r = 0; r < rows; ++r) {
      float* scores = scratch.scores + r * kAttentionKeys;
      const int64_t query = task.query + r % task.count;
      if constexpr (std::is_same_v<C, int8_t>) {
        for (int64_t j = 0; j < count; ++j) scores[j] *= chunk.key_scales[j];
      }
      const int64_t from = std::min(count, std::max<int64_t>(0, first(query) - key));
      const int64_t last = std::min(count, seen(query) - key);
      CapRow(scores, from, last, args.soft_cap);
      const float factor = WeighRow(scores, from, last, state.largest + r, state.total + r);
      ScaleSums(state.sums + r * padded, padded, factor);
      if constexpr (std::is_same_v<C, int8_t>) {
        for (int64_t j = 0; j < count; ++j) scores[j] *= chunk.value_scales[j];
      }
    }
    if (few) {
      InBlocks(rows, [&](auto n, int64_t r) {
        FewValues<decltype(n)::value>(chunk.values, count, scratch.scores + r * kAttentionKeys, args.width, padded,
                                      state.sums + r * padded);
      });
    } else {
      CopyRows(chunk.values, count, args.width, padded, scratch.values);
      Multiply<FloatSteps>(rows, padded, scratch.scores, kAttentionKeys, scratch.values, padded, count, state.sums,
                           padded, true);
    }
  }
}

template <class Level, class T, class C>
void StoreCached(const T* from, int64_t count, C* to, float* scale) {
  if constexpr (std::is_same_v<C, int8_t>) {
    const float largest = RowMax<T>(count, [&](int64_t i, auto extent) { return Abs(Get(from + i, extent)); });
    const double sum = RowSum<T>(count, [&](int64_t i, auto extent) { return Get(from + i, extent); });
    *scale = std::isfinite(sum) && largest < INFINITY ? largest / 127 : NAN;
    const float inverse = *scale > 1e-36f ? 1 / *scale : 0;  // false for a NaN too; what is smaller counts as zero
    for (int64_t d = 0; d < count; d += kLanes) {
      float values[kLanes];
      const int64_t here = std::min<int64_t>(kLanes, count - d);
      Pack<float>::Store(values, here == kLanes ? Get(from + d, Whole{}) : Get(from + d, Part{static_cast<int>(here)}));
      for (int64_t i = 0; i < here; ++i)
        to[d + i] = inverse > 0 ? static_cast<int8_t>(std::lrint(values[i] * inverse)) : 0;
    }
  } else {
    ForRow<T>(count, [&](int64_t i, auto extent) { Put(to + i, extent, Get(from + i, extent)); });
  }
}

#define KK_INSTANTIATE(C)                                                                        \
  template void PagedRun<KP_VARIANT, C>(const PagedArgs<C>&, const AttentionTask&, const float*, \
                                        const AttentionState&, float*);                          \
  template void StoreCached<KP_VARIANT, float, C>(const float*, int64_t, C*, float*);            \
  template void StoreCached<KP_VARIANT, F16, C>(const F16*, int64_t, C*, float*);                \
  template void StoreCached<KP_VARIANT, Bf16, C>(const Bf16*, int64_t, C*, float*);
KK_CACHE_TYPES(KK_INSTANTIATE)
#undef KK_INSTANTIATE
#define KK_INSTANTIATE(T)                                                                                              \
  template void PagedQueries<KP_VARIANT, T>(const T*, const AttentionStrides&, const AttentionTask&, int64_t, int64_t, \
                                            float, float*);
KK_ATTENTION_TYPES(KK_INSTANTIATE)

}  // namespace kk
