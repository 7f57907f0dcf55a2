// Attention beside a cache in pages.
#include "paged.h"

#include <cmath>

#include "blocks.h"
#include "few_rows.h"
#include "load_cached.h"

namespace kk {
namespace {

using FewLevel = typename RowLevel<KP_VARIANT>::Type;

// Where the keys and values of a chunk lie, and what they are scaled with.
template <class C>
struct Chunk {
  const C *keys[kAttentionKeys], *values[kAttentionKeys];
  float key_scales[kAttentionKeys], value_scales[kAttentionKeys];

  Chunk(const PagedArgs<C>& args, const AttentionTask& task, int64_t key, int64_t count) {
    const int32_t* entry = args.tables + task.batch * args.table_size + key / args.page;
    int64_t row = key % args.page;
    for (int64_t j = 0; j < count; ++entry, row = 0) {
      const int64_t here = std::min(count - j, args.page - row), page = *entry;
      const auto set = [&](const PagedCache<C>& of, const C** rows, float* scales) {
        const C* at = of.data + page * of.page_stride + row * of.row_stride + task.group * of.group_stride;
        for (int64_t i = j; i < j + here; ++i, at += of.row_stride) rows[i] = at;
        if constexpr (std::is_same_v<C, int8_t>) {
          const float* scale = of.scales + (page * args.page + row) * args.groups + task.group;
          for (int64_t i = j; i < j + here; ++i, scale += args.groups) scales[i] = *scale;
        }
      };
      set(args.keys, keys, key_scales), set(args.values, values, value_scales);
      j += here;
    }
  }
};

// The keys [first, last) that a query sees.
template <class C>
Seen GetSeenKeys(const PagedArgs<C>& args, const AttentionTask& task, int64_t query) {
  const int64_t length = args.lengths[task.batch], at = length - args.queries + query + 1;
  return {args.window > 0 ? std::max<int64_t>(0, at - args.window) : 0, std::clamp<int64_t>(at, 0, length)};
}

// Few rows: each key is multiplied with all of them.
template <class C>
void RunFew(const PagedArgs<C>& args, const AttentionTask& task, const float* queries, const AttentionState& state,
            int64_t begin, int64_t end, float* all_scores) {
  const int64_t padded = PaddedWidth(args.width), rows = task.count * args.shared;
  for (int64_t key = begin; key < end; key += kAttentionKeys) {
    const int64_t count = std::min(kAttentionKeys, end - key);
    const Chunk<C> chunk(args, task, key, count);
    const FewKeys<C> few = {chunk.keys, chunk.values, count, args.width};
    FewScores<FewLevel>(few, queries, rows, all_scores);
    for (int64_t r = 0; r < rows; ++r) {
      float* scores = all_scores + r * kAttentionKeys;
      if constexpr (std::is_same_v<C, int8_t>) {
        for (int64_t j = 0; j < count; ++j) scores[j] *= chunk.key_scales[j];
      }
      const Seen seen = GetSeenKeys(args, task, task.query + r % task.count);
      const int64_t first = std::clamp<int64_t>(seen.first - key, 0, count), last = std::min(count, seen.last - key);
      CapRow(scores, first, last, args.soft_cap);
      const float factor = WeighRow(scores, first, last, state.largest + r, state.total + r);
      ScaleSums(state.sums + r * padded, padded, factor);
      if constexpr (std::is_same_v<C, int8_t>) {
        for (int64_t j = 0; j < count; ++j) scores[j] *= chunk.value_scales[j];
      }
    }
    FewValues<FewLevel>(few, all_scores, rows, state.sums);
  }
}

// The keys and values of a chunk, copied beside each other as values of type T.
template <class T, class C>
class CopiedRows {
 public:
  // memory: 2 chunks [PaddedWidth].
  CopiedRows(const PagedArgs<C>& args, const AttentionTask& task, T* memory)
      : args_(args), task_(task), keys_(memory), values_(memory + kKeys * PaddedWidth(args.width)) {}

  ChunkRows<T> operator()(int64_t key, int64_t count) const {
    const int64_t padded = PaddedWidth(args_.width);
    for (int64_t from = 0; from < count; from += kAttentionKeys) {
      const int64_t here = std::min(kAttentionKeys, count - from);
      const Chunk<C> chunk(args_, task_, key + from, here);
      Copy(chunk.keys, chunk.key_scales, here, keys_ + from * padded);
      Copy(chunk.values, chunk.value_scales, here, values_ + from * padded);
    }
    return {keys_, padded, values_, padded};
  }

 private:
  static constexpr int64_t kKeys = ProductsOf<T>::Type::kKeys;

  void Copy(const C* const* rows, const float* scales, int64_t count, T* to) const {
    const int64_t padded = PaddedWidth(args_.width);
    for (int64_t j = 0; j < count; ++j, to += padded) {
      if constexpr (std::is_same_v<T, C>) {
        CopyPadded(rows[j], args_.width, padded, to);
      } else {
        for (int64_t d = 0; d < padded; d += kLanes) {
          VF lanes = d < args_.width ? LoadCached(rows[j], d, args_.width) : VF{};
          if constexpr (std::is_same_v<C, int8_t>) lanes *= scales[j];
          Pack<T>::Store(to + d, lanes);
        }
      }
    }
  }

  const PagedArgs<C>& args_;
  const AttentionTask& task_;
  T *keys_, *values_;
};

// More rows: chunks of keys are copied, then multiplied by tiles.
template <class T, class C>
void RunMany(const PagedArgs<C>& args, const AttentionTask& task, const PagedQueries<T>& queries,
             const AttentionState& state, int64_t begin, int64_t end, float* memory) {
  AttentionArgs<T> call = {};
  call.q = queries.data, call.of_q = queries.strides, call.scale = queries.scale;
  call.queries = args.queries, call.keys = args.lengths[task.batch];
  call.heads = args.groups * args.shared, call.groups = args.groups, call.width = args.width;
  call.causal = true, call.window = args.window, call.soft_cap = args.soft_cap;
  const CopiedRows<T, C> rows(args, task, reinterpret_cast<T*>(memory));
  RunBlocks<typename ProductsOf<T>::Type>(call, task, rows, state, begin, end,
                                          memory + 2 * kAttentionKeys * PaddedWidth(args.width));
}

}  // namespace

template <class Level, class T, class C>
void PagedRun(const PagedArgs<C>& args, const PagedQueries<T>& queries, const AttentionTask& task,
              const AttentionState& state, float* memory) {
  const int64_t padded = PaddedWidth(args.width), rows = task.count * args.shared;
  BeginState(task, args.shared, args.width, args.sinks, state);
  const int64_t begin = std::max(task.first_key, GetSeenKeys(args, task, task.query).first);
  const int64_t end = std::min(task.last_key, GetSeenKeys(args, task, task.query + task.count - 1).last);
  if constexpr (std::is_same_v<T, C>) {
    if (rows > kFewRows) return RunMany(args, task, queries, state, begin, end, memory);
  }
  GatherQueries(queries.data, queries.strides, task, args.shared, args.width, queries.scale, memory);
  float* const rest = memory + rows * padded;
  if (rows <= kFewRows) return RunFew(args, task, memory, state, begin, end, rest);
  // Where the copies lie, for a product that finds the first query of the task at `data`.
  const AttentionStrides copies = {0, padded, task.count * padded};
  const float* const first = memory - task.query * copies.row - task.group * args.shared * copies.head;
  RunMany<float>(args, task, {first, copies, 1}, state, begin, end, rest);
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

#define KK_INSTANTIATE_RUN(T, C)                                                                              \
  template void PagedRun<KP_VARIANT, T, C>(const PagedArgs<C>&, const PagedQueries<T>&, const AttentionTask&, \
                                           const AttentionState&, float*);
#define KK_INSTANTIATE(C)                                                             \
  KK_INSTANTIATE_RUN(float, C)                                                        \
  KK_INSTANTIATE_RUN(F16, C)                                                          \
  KK_INSTANTIATE_RUN(Bf16, C)                                                         \
  template void StoreCached<KP_VARIANT, float, C>(const float*, int64_t, C*, float*); \
  template void StoreCached<KP_VARIANT, F16, C>(const F16*, int64_t, C*, float*);     \
  template void StoreCached<KP_VARIANT, Bf16, C>(const Bf16*, int64_t, C*, float*);
#if defined(__AVX512BF16__)
KK_INSTANTIATE_RUN(Bf16, Bf16)
#else
KK_CACHE_TYPES(KK_INSTANTIATE)
#endif

}  // namespace kk
