// Attention of many rows: chunks of keys, and of each a block of rows after the other.
#pragma once

#include "products.h"
#include "weights.h"

namespace kk {
namespace {

// Whether a row of [begin, end), all of one head, sees a key of the chunk; rows of several heads may.
template <class T>
inline bool AnySeen(const AttentionArgs<T>& args, const AttentionTask& task, int64_t begin, int64_t end, int64_t key,
                    int64_t count) {
  if (begin / task.count != (end - 1) / task.count) return true;
  const int64_t length = LengthOf(args, task.batch), query = task.query + begin % task.count;
  return SeenBy(args, length, query).first < key + count && SeenBy(args, length, query + end - 1 - begin).last > key;
}

// Keys [begin, end) of a task, whose state has been cleared. Memory: AttentionScratch.
template <class Products>
inline void RunBlocks(const AttentionArgs<typename Products::Type>& args, const AttentionTask& task,
                      const AttentionState& state, int64_t begin, int64_t end, float* memory) {
  using Item = typename Products::Item;
  const int64_t padded = PaddedWidth(args.width), rows = task.count * args.shared();
  auto* const queries = reinterpret_cast<Item*>(memory);
  float* const scores = memory + rows * padded;
  float* const keys = scores + kAttentionScores;
  Products products(args.width, reinterpret_cast<Item*>(keys), reinterpret_cast<Item*>(keys + kAttentionKeys * padded));
  products.Queries(args, task, queries);
  const auto* k = args.k + task.batch * args.of_k.batch + task.group * args.of_k.head;
  const auto* v = args.v + task.batch * args.of_v.batch + task.group * args.of_v.head;
  for (int64_t key = begin; key < end; key += Products::kKeys) {
    const int64_t count = std::min(Products::kKeys, end - key);
    const int64_t columns = (count + kLanes - 1) / kLanes * kLanes;
    const ChunkWeights<Products> weights(args, task, key, count);
    products.Chunk(k + key * args.of_k.row, args.of_k.row, v + key * args.of_v.row, args.of_v.row, count);
    for (int64_t r = 0; r < rows; r += Products::kRows) {
      const int64_t here = std::min(Products::kRows, rows - r);
      if (!AnySeen(args, task, r, r + here, key, count)) continue;
      products.Scores(queries + r * products.query_items(), here, columns, scores);
      weights.Weigh(scores, r, here, state);
      products.AddValues(scores, here, state.sums + r * padded);
    }
  }
}

}  // namespace
}  // namespace kk
