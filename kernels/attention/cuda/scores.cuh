// Which keys a query sees, and what its scores are: shared by the attention kernels. Scores are in powers of two.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "params.h"

namespace kk_cuda {

constexpr float kLog2E = 1.4426950408889634f, kLn2 = 0.6931471805599453f;
constexpr float kInfinity = __builtin_huge_valf(), kNan = __builtin_nanf("");

// Within 2^-22 of the power, and 0 for -inf.
__device__ inline float Exp2(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

__device__ inline float Score(float dot, float factor, float cap) {
  return cap == 0 ? dot * factor : tanhf(dot * factor) * cap;
}

// The keys [first, last) that a query sees.
struct Seen {
  int first, last;
};

// `length` of the item's keys count.
__device__ inline Seen SeenBy(const AttentionParams& p, int length, int query) {
  const int at = p.causal ? query + length - p.queries : length - 1;
  return {p.window > 0 ? max(0, at - p.window + 1) : 0, min(max(at + 1, 0), length)};
}

__device__ inline int GetLength(const AttentionParams& p, const int* lengths, int batch) {
  return p.has_lengths ? min(max(lengths[batch], 0), p.keys) : p.keys;
}

// The sum of a row's weights; NaN if the item's length is impossible: only the device knows lengths.
__device__ inline float GetTotal(const AttentionParams& p, const int* lengths, int batch, float total) {
  return p.has_lengths && (lengths[batch] < 0 || lengths[batch] > p.keys) ? kNan : total;
}

// The sink of a head as a score. A row begins with it, of weight 1, or, where there is none, with -inf and 0.
__device__ inline float GetSink(const float* sinks, int head) { return sinks ? sinks[head] * kLog2E : -kInfinity; }

// A score with an element of a mask.
__device__ inline float Masked(float score, unsigned char keep) { return keep ? score : -kInfinity; }
__device__ inline float Masked(float score, float added) { return score + added * kLog2E; }
__device__ inline float Masked(float score, __half added) { return Masked(score, __half2float(added)); }
__device__ inline float Masked(float score, __nv_bfloat16 added) { return Masked(score, __bfloat162float(added)); }

// f(mask), in its type, if there is one.
template <class F>
__device__ inline void WithMask(MaskKind kind, const void* mask, const F& f) {
  switch (kind) {
    case kBoolMask:
      return f(static_cast<const unsigned char*>(mask));
    case kFloatMask:
      return f(static_cast<const float*>(mask));
    case kHalfMask:
      return f(static_cast<const __half*>(mask));
    case kBfloatMask:
      return f(static_cast<const __nv_bfloat16*>(mask));
    default:
      return;
  }
}

__device__ inline long long MaskRow(const AttentionParams& p, int batch, int head, int query) {
  return batch * p.mask.batch + head * p.mask.head + query * p.mask.row;
}

// The number that softmax subtracts: 0 if there is no score yet, so that exp(-inf) gives 0.
__device__ inline float Origin(float largest) { return largest == -kInfinity ? 0 : largest; }

// The logarithm of the sum of exp(score), +inf where there is none: exp(score - it) is a weight either way.
__device__ inline float LogSum(float largest, float total) {
  return total == 0 ? kInfinity : (largest + log2f(total)) * kLn2;
}

// Rows of a group are its queries, the heads that share it beside each other.
struct RowPlace {
  int query, head;
};
__device__ inline RowPlace GetPlace(const AttentionParams& p, int group, int row) {
  return {row / p.shared, group * p.shared + row % p.shared};
}

__device__ inline long long OutRow(const AttentionParams& p, int batch, RowPlace at) {
  return (static_cast<long long>(batch) * p.queries + at.query) * (p.groups * p.shared) + at.head;
}
__device__ inline long long LseRow(const AttentionParams& p, int batch, RowPlace at) {
  return (static_cast<long long>(batch) * p.groups * p.shared + at.head) * p.queries + at.query;
}

}  // namespace kk_cuda
