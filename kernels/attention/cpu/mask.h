// Rows of masks: shared by the forward and the backward pass.
#pragma once

#include "common/cpu/row.h"
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
  const int64_t at = mask.At(batch, head, query, key);
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

template <class M>
inline bool HidesAll(const M* row, int64_t count) {
  const VF one = Splat(1.0f);
  return RowMax<float>(count, [&](int64_t j, auto extent) {
           return Get(row + j, extent, -INFINITY) == Splat(-INFINITY) ? VF{} : one;  // a NaN isn't hidden
         }) <= 0;
}

// True if the query sees none of `count` keys from `key` on. A block of such queries needs no computation.
inline bool MaskHides(const AttentionMask& mask, int64_t batch, int64_t head, int64_t query, int64_t key,
                      int64_t count) {
  const int64_t at = mask.At(batch, head, query, key);
  switch (mask.kind) {
    case MaskKind::kNone:
      return false;
    case MaskKind::kBool: {
      const auto* row = static_cast<const uint8_t*>(mask.data) + at;
      uint8_t any = 0;
      for (int64_t j = 0; j < count; ++j) any |= row[j];
      return any == 0;
    }
    case MaskKind::kFloat:
      return HidesAll(static_cast<const float*>(mask.data) + at, count);
    case MaskKind::kF16:
      return HidesAll(static_cast<const F16*>(mask.data) + at, count);
    default:
      return HidesAll(static_cast<const Bf16*>(mask.data) + at, count);
  }
}

}  // namespace
}  // namespace kk
