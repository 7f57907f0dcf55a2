// The gradient of attention of f16 and bf16 by tensor cores; the formulas are attention_backward.cu's. Some kernels have blocks of keys,
// past which all rows of queries that see them go; others have blocks of rows. A warp has 32 keys or rows: so each number that it reads
// from shared memory is used twice. Registers don't hold the sums of d_k and of d_v beside each other: each has its kernel. The next tile
// is copied while one is multiplied.
#include <type_traits>

#include "backward.cuh"
#include "products_mma.cuh"

namespace kk_cuda {
namespace {

constexpr int kM = 2, kOwn = 16 * kM, kBlock = 4 * kOwn;  // rows (or keys) of a warp, of a block

// The operands of the gradients of scores beside a key or a query.
struct Other {
  float lse, delta;  // in powers of two
  Seen seen;
  long long mask;
};

__device__ inline Other LoadOther(const AttentionParams& p, int batch, int group, int length, int row, bool there,
                                  const float* lse, const float* delta) {
  const RowPlace at = GetPlace(p, group, row);
  const long long of = LseRow(p, batch, at);
  if (!there || lse[of] == kInfinity) return {0, 0, {0, 0}, 0};  // sees no key
  return {lse[of] * kLog2E, delta[of], SeenBy(p, length, at.query), MaskRow(p, batch, at.head, at.query)};
}

// score, a dot product, becomes the weight; d_weight the score's gradient, but for Scale(). kPlain: without a mask and a soft cap.
// kEdge: the key may not be seen.
template <bool kPlain, bool kEdge>
__device__ inline void Differentiate(float& score, float& d_weight, const Other& of, int key, const AttentionParams& p,
                                     const void* mask) {
  if (kEdge && (key < of.seen.first || key >= of.seen.last)) {
    score = d_weight = 0;
    return;
  }
  if (kPlain) {
    score = Exp2(score * p.factor - of.lse);
    d_weight = score * (d_weight - of.delta);
    return;
  }
  float s = Score(score, p.factor, p.cap);
  const float part = p.cap == 0 ? 0 : s / p.cap;
  WithMask(p.mask.kind, mask, [&](const auto* elements) { s = Masked(s, elements[of.mask + key * p.mask.key]); });
  score = Exp2(s - of.lse);
  d_weight = score * (d_weight - of.delta) * (1 - part * part);
}

// f(plain, edge), as Differentiate() takes them, as types: the same for all threads, so that it is asked once, not for each score.
template <class F>
__device__ inline void WithKind(const AttentionParams& p, bool edge, const F& f) {
  if (p.mask.kind != kNoMask || p.cap != 0) {
    f(std::false_type{}, std::true_type{});
  } else if (edge) {
    f(std::true_type{}, std::true_type{});
  } else {
    f(std::true_type{}, std::false_type{});
  }
}

// The slope of a score by the dot product; with a cap, the slope where the cap doesn't bend the score.
__device__ inline float Scale(const AttentionParams& p) { return p.factor * kLn2 * (p.cap == 0 ? 1 : p.cap); }

// The rows that see a key of [first_key, last_key].
__device__ inline Seen RowsThatSee(const AttentionParams& p, int length, int first_key, int last_key) {
  if (first_key >= length) return {0, 0};
  if (!p.causal) return {0, p.window > 0 && last_key < length - p.window ? 0 : p.queries * p.shared};
  const long long ahead = length - p.queries;  // of a query's last key
  const long long begin = max(first_key - ahead, 0ll);
  const long long end = p.window > 0 ? min(last_key + p.window - ahead, static_cast<long long>(p.queries)) : p.queries;
  return begin < end ? Seen{static_cast<int>(begin) * p.shared, static_cast<int>(end) * p.shared} : Seen{0, 0};
}

// Rows [row, row + kCount) of q and of d_context, as far as they are before `end`.
template <int kWidth, int kCount, class T>
__device__ inline void CopyQueries(T* queries, T* contexts, const T* q, const T* d_context, const AttentionParams& p,
                                   int batch, int group, int row, int end) {
  if (p.shared == 1) {  // they lie at one distance
    CopyRows<kWidth, kCount>(queries, q + batch * p.q.batch + group * p.q.head + row * p.q.row, p.q.row, p.width,
                             end - row);
    CopyRows<kWidth, kCount>(contexts, d_context + OutRow(p, batch, {row, group}) * p.width,
                             static_cast<long long>(p.groups) * p.width, p.width, end - row);
    return;
  }
  CopyTile<kWidth, kCount>(queries, q, p.width, [&](int r) {
    const RowPlace at = GetPlace(p, group, row + r);
    return row + r < end ? q + batch * p.q.batch + at.query * p.q.row + at.head * p.q.head : nullptr;
  });
  CopyTile<kWidth, kCount>(contexts, d_context, p.width, [&](int r) {
    return row + r < end ? d_context + OutRow(p, batch, GetPlace(p, group, row + r)) * p.width : nullptr;
  });
}

// d_k, or d_v. A row (a key) of a lane is its fragment's row, a query its column.
template <int kWidth, int kTile, bool kOfKeys, class T>
__device__ void OfKeys(const T* d_context, const T* q, const T* k, const T* v, const int* lengths, const void* mask,
                       const float* lse, const float* delta, T* result, const AttentionParams& p) {
  extern __shared__ __align__(256) unsigned char memory[];
  __shared__ Other others[2][kTile];
  T* const keys = reinterpret_cast<T*>(memory);
  T* const values = keys + kBlock * kWidth;
  T* const tiles = values + (kOfKeys ? kBlock * kWidth : 0);  // two of: queries, then gradients of their contexts
  constexpr int kTileSize = 2 * kTile * kWidth;
  const int blocks = (p.keys + kBlock - 1) / kBlock, pair = blockIdx.x / blocks;
  const int first_key = static_cast<int>(blockIdx.x % blocks) * kBlock;
  const int group = pair % p.groups, batch = pair / p.groups, length = GetLength(p, lengths, batch);
  const int warp = threadIdx.x / 32;
  int lane = threadIdx.x & 31;
  const Seen rows = RowsThatSee(p, length, first_key, min(first_key + kBlock, p.keys) - 1);

  const auto copy = [&](int row) {
    const int buffer = row / kTile & 1;
    T* const to = tiles + buffer * kTileSize;
    CopyQueries<kWidth, kTile>(to, to + kTile * kWidth, q, d_context, p, batch, group, row, rows.last);
    CommitCopies();
    const int own = row + static_cast<int>(threadIdx.x);
    if (threadIdx.x < kTile) {
      others[buffer][threadIdx.x] =
          LoadOther(p, batch, group, length, min(own, rows.last - 1), own < rows.last, lse, delta);
    }
  };
  const auto copy_keys = [&](T* to, const T* of, const Strides& by) {
    CopyRows<kWidth, kBlock>(to, of + batch * by.batch + group * by.head + first_key * by.row, by.row, p.width,
                             length - first_key);
  };
  const int begin = rows.first / kTile * kTile;
  if (begin < rows.last) {
    copy_keys(keys, k, p.k);
    if (kOfKeys) copy_keys(values, v, p.v);
    copy(begin);
  }
  float sums[kM][kWidth / 8][4] = {};
  for (int row = begin; row < rows.last; row += kTile) {
    KeepAddressesOut(lane);
    WaitForCopies();
    __syncthreads();
    if (row + kTile < rows.last) copy(row + kTile);
    const int buffer = row / kTile & 1;
    const T* const queries = tiles + buffer * kTileSize;
    const T* const contexts = queries + kTile * kWidth;
    float scores[kM][kTile / 8][4], d_weights[kM][kTile / 8][4];
    Dots<kWidth>(scores, keys + warp * kOwn * kWidth, queries, lane);
    if (kOfKeys) Dots<kWidth>(d_weights, values + warp * kOwn * kWidth, contexts, lane);
    const int last_row = row + kTile - 1, last_key = first_key + kBlock - 1;
    const bool edge = last_row >= rows.last || SeenBy(p, length, row / p.shared).last <= last_key ||
                      SeenBy(p, length, last_row / p.shared).first > first_key;
    WithKind(p, edge, [&](auto plain, auto at_edge) {
#pragma unroll
      for (int i = 0; i < kTile / 4; ++i) {
        const Other of = others[buffer][i / 2 * 8 + (lane & 3) * 2 + i % 2];
#pragma unroll
        for (int r = 0; r < kM * 2; ++r) {
          const int key = first_key + warp * kOwn + r * 8 + lane / 4, at = r % 2 * 2 + i % 2;
          float none = 0;
          Differentiate<decltype(plain)::value, decltype(at_edge)::value>(
              scores[r / 2][i / 2][at], kOfKeys ? d_weights[r / 2][i / 2][at] : none, of, key, p, mask);
        }
      }
    });
    AddProduct<kWidth>(sums, kOfKeys ? d_weights : scores, kOfKeys ? queries : contexts, lane);
  }
#pragma unroll
  for (int r = 0; r < kM * 2; ++r) {
    const int key = first_key + warp * kOwn + r * 8 + lane / 4;
    if (key >= p.keys) continue;
    const long long to = ((static_cast<long long>(batch) * p.keys + key) * p.groups + group) * p.width;
    StoreSums<kWidth>(sums[r / 2], r % 2, kOfKeys ? Scale(p) : 1, result + to, p.width, lane);
  }
}

// A row (a query) of a lane is its fragment's row, a key its column.
template <int kWidth, int kTile, class T>
__device__ void OfQueries(const T* d_context, const T* q, const T* k, const T* v, const int* lengths, const void* mask,
                          const float* lse, const float* delta, T* d_q, const AttentionParams& p) {
  extern __shared__ __align__(256) unsigned char memory[];
  __shared__ Other others[kBlock];
  T* const queries = reinterpret_cast<T*>(memory);
  T* const contexts = queries + kBlock * kWidth;
  T* const tiles = contexts + kBlock * kWidth;  // two of: keys, then values
  constexpr int kTileSize = 2 * kTile * kWidth;
  const int rows = p.queries * p.shared, blocks = (rows + kBlock - 1) / kBlock, pair = blockIdx.x / blocks;
  // The last ones first: with `causal` they have the most keys.
  const int first_row = (blocks - 1 - static_cast<int>(blockIdx.x % blocks)) * kBlock;
  const int group = pair % p.groups, batch = pair / p.groups, length = GetLength(p, lengths, batch);
  const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
  const Seen earliest = SeenBy(p, length, first_row / p.shared);
  const Seen latest = SeenBy(p, length, (min(first_row + kBlock, rows) - 1) / p.shared);
  const int begin = earliest.first / kTile * kTile, end = latest.last;

  const auto copy = [&](int key) {
    T* const to = tiles + (key / kTile & 1) * kTileSize;
    CopyRows<kWidth, kTile>(to, k + batch * p.k.batch + group * p.k.head + key * p.k.row, p.k.row, p.width, end - key);
    CopyRows<kWidth, kTile>(to + kTile * kWidth, v + batch * p.v.batch + group * p.v.head + key * p.v.row, p.v.row,
                            p.width, end - key);
    CommitCopies();
  };
  CopyQueries<kWidth, kBlock>(queries, contexts, q, d_context, p, batch, group, first_row, rows);
  copy(begin);
  const int own = first_row + static_cast<int>(threadIdx.x);
  others[threadIdx.x] = LoadOther(p, batch, group, length, min(own, rows - 1), own < rows, lse, delta);
  float sums[kM][kWidth / 8][4] = {};
  for (int key = begin; key < end; key += kTile) {
    WaitForCopies();
    __syncthreads();
    if (key + kTile < end) copy(key + kTile);
    const T* const keys = tiles + (key / kTile & 1) * kTileSize;
    float scores[kM][kTile / 8][4], d_weights[kM][kTile / 8][4];
    Dots<kWidth>(scores, queries + warp * kOwn * kWidth, keys, lane);
    Dots<kWidth>(d_weights, contexts + warp * kOwn * kWidth, keys + kTile * kWidth, lane);
    const bool edge = first_row + kBlock > rows || key < latest.first || key + kTile > earliest.last;
    WithKind(p, edge, [&](auto plain, auto at_edge) {
#pragma unroll
      for (int r = 0; r < kM * 2; ++r) {
        const Other of = others[warp * kOwn + r * 8 + lane / 4];
#pragma unroll
        for (int i = 0; i < kTile / 4; ++i) {
          const int at = r % 2 * 2 + i % 2;
          Differentiate<decltype(plain)::value, decltype(at_edge)::value>(
              scores[r / 2][i / 2][at], d_weights[r / 2][i / 2][at], of, key + i / 2 * 8 + (lane & 3) * 2 + i % 2, p,
              mask);
        }
      }
    });
    AddProduct<kWidth>(sums, d_weights, keys, lane);
  }
  WaitForCopies();
#pragma unroll
  for (int r = 0; r < kM * 2; ++r) {
    const int row = first_row + warp * kOwn + r * 8 + lane / 4;
    if (row >= rows) continue;
    StoreSums<kWidth>(sums[r / 2], r % 2, Scale(p), d_q + OutRow(p, batch, GetPlace(p, group, row)) * p.width, p.width,
                      lane);
  }
}

}  // namespace
}  // namespace kk_cuda

#define KK_OF_QUERIES(name, T, width)                                                                                 \
  extern "C" __global__ void __launch_bounds__(128, 2) attention_mma_d_q_##name##_##width(                            \
      const T* d_context, const T* q, const T* k, const T* v, const int* lengths, const void* mask, const float* lse, \
      const float* delta, T* d_q, const __grid_constant__ kk_cuda::AttentionParams p) {                               \
    kk_cuda::OfQueries<width, 32>(d_context, q, k, v, lengths, mask, lse, delta, d_q, p);                             \
  }
#define KK_OF_KEYS(of, of_keys, name, T, width, tile)                                                                 \
  extern "C" __global__ void __launch_bounds__(128, 2) attention_mma_##of##_##name##_##width(                         \
      const T* d_context, const T* q, const T* k, const T* v, const int* lengths, const void* mask, const float* lse, \
      const float* delta, T* result, const __grid_constant__ kk_cuda::AttentionParams p) {                            \
    kk_cuda::OfKeys<width, tile, of_keys>(d_context, q, k, v, lengths, mask, lse, delta, result, p);                  \
  }
#define KK_BACKWARD(name, T, width)         \
  KK_OF_QUERIES(name, T, width)             \
  KK_OF_KEYS(d_k, true, name, T, width, 32) \
  KK_OF_KEYS(d_v, false, name, T, width, (width <= 64 ? 64 : 32))
#define KK_BACKWARDS(name, T) KK_BACKWARD(name, T, 32) KK_BACKWARD(name, T, 64) KK_BACKWARD(name, T, 128)
KK_BACKWARDS(f16, __half)
KK_BACKWARDS(bf16, __nv_bfloat16)
