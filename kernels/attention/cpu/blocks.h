// Attention of many rows: chunks of keys, and of each a block of rows after the other.
#pragma once

#include "products.h"
#include "weights.h"

namespace kk {
namespace {

template <class T>
struct ProductsOf {
  using Type = FloatProducts<T>;
};
#if defined(__AMX_BF16__)
template <>
struct ProductsOf<Bf16> {
  using Type = Bf16Products<TileSession<AmxTiles>>;
};
#elif defined(__AVX512BF16__)
template <>
struct ProductsOf<Bf16> {
  using Type = Bf16Products<VectorSession>;
};
#endif

// True if the mask shows a key of the chunk to a row of [begin, end).
template <class T>
inline bool AnyShown(const AttentionArgs<T>& args, const AttentionTask& task, int64_t begin, int64_t end, int64_t key,
                     int64_t count) {
  for (int64_t r = begin; r < end; ++r) {
    const int64_t head = task.group * args.shared() + r / task.count, query = task.query + r % task.count;
    if (!MaskHides(args.mask, task.batch, head, query, key, count)) return true;
  }
  return false;
}

// True if a row of [begin, end), all of one head, sees a key of the chunk; true for rows of several heads, which may.
template <class T>
inline bool AnySeen(const AttentionArgs<T>& args, const AttentionTask& task, int64_t begin, int64_t end, int64_t key,
                    int64_t count) {
  if (!AnyShown(args, task, begin, end, key, count)) return false;
  if (begin / task.count != (end - 1) / task.count) return true;
  const int64_t length = GetLength(args, task.batch), query = task.query + begin % task.count;
  return SeenBy(args, length, query).first < key + count && SeenBy(args, length, query + end - 1 - begin).last > key;
}

// The keys and values of a chunk.
template <class T>
struct ChunkRows {
  const T* keys;
  int64_t key_stride;
  const T* values;
  int64_t value_stride;
};

// Those of a task, as they lie in the tensors.
template <class T>
class RowsOfTask {
 public:
  RowsOfTask(const AttentionArgs<T>& args, const AttentionTask& task)
      : keys_(args.k + task.batch * args.of_k.batch + task.group * args.of_k.head),
        values_(args.v + task.batch * args.of_v.batch + task.group * args.of_v.head),
        key_stride_(args.of_k.row),
        value_stride_(args.of_v.row) {}
  ChunkRows<T> operator()(int64_t key, int64_t) const {
    return {keys_ + key * key_stride_, key_stride_, values_ + key * value_stride_, value_stride_};
  }

 private:
  const T *keys_, *values_;
  int64_t key_stride_, value_stride_;
};

// Keys [begin, end) of a task, whose state has been cleared; rows(key, count) are a chunk's ChunkRows. Memory: AttentionScratch.
template <class Products, class RowsOf>
inline void RunBlocks(const AttentionArgs<typename Products::Type>& args, const AttentionTask& task,
                      const RowsOf& rows_of, const AttentionState& state, int64_t begin, int64_t end, float* memory) {
  using Item = typename Products::Item;
  const int64_t padded = PaddedWidth(args.width), rows = task.count * args.shared();
  auto* const queries = reinterpret_cast<Item*>(memory);
  float* const scores = memory + rows * padded;
  float* const keys = scores + kAttentionScores;
  Products products(args.width, reinterpret_cast<Item*>(keys), reinterpret_cast<Item*>(keys + kAttentionKeys * padded));
  products.Queries(args, task, queries);
  for (int64_t key = begin; key < end; key += Products::kKeys) {
    const int64_t count = std::min(Products::kKeys, end - key);
    const int64_t columns = (count + kLanes - 1) / kLanes * kLanes;
    const ChunkWeights<Products> weights(args, task, key, count);
    const ChunkRows<typename Products::Type> chunk = rows_of(key, count);
    bool ready = false;
    for (int64_t r = 0; r < rows; r += Products::kRows) {
      const int64_t here = std::min(Products::kRows, rows - r);
      if (!AnySeen(args, task, r, r + here, key, count)) continue;
      if (!ready) products.Chunk(chunk.keys, chunk.key_stride, chunk.values, chunk.value_stride, count);
      ready = true;
      products.Scores(queries + r * products.query_items(), here, columns, scores);
      weights.Weigh(scores, r, here, state);
      products.AddValues(scores, here, state.sums + r * padded);
    }
  }
}

}  // namespace
}  // namespace kk
