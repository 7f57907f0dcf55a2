// Rows of masks: shared by the forward and the backward pass.
#pragma once

#include "../rows/row.h"
#include "attention.h"

namespace kk {
namespace {

template <class M>
inline void AddMask(const AttentionMask& mask, int64_t at, int64_t count, float* scores) {
  const M* row = static_cast<const M*>(mask.data) + at;
  ForRow<M>(count,
            [&](int64_t j, auto extent) { Put(scores + j, extent, Get(scores + j, extent) + Get(row + j, extent)); });
}

// Of `count` scores, the first being that of key `key`.
inline void MaskRow(const AttentionMask& mask, int64_t batch, int64_t head, int64_t query, int64_t key, int64_t count,
                    float* scores) {
  if (mask.kind == MaskKind::kNone || count <= 0) return;
  const int64_t at = batch * mask.batch + head * mask.head + query * mask.row + key;
  switch (mask.kind) {
    case MaskKind::kBool: {
      const auto* row = static_cast<const uint8_t*>(mask.data) + at;
      for (int64_t j = 0; j < count; ++j) scores[j] = row[j] ? scores[j] : -INFINITY;
      return;
    }
    case MaskKind::kFloat:
      return AddMask<float>(mask, at, count, scores);
    case MaskKind::kF16:
      return AddMask<F16>(mask, at, count, scores);
    default:
      return AddMask<Bf16>(mask, at, count, scores);
  }
}

}  // namespace
}  // namespace kk
