// attention of f16 and bf16 by tensor cores: 16 or 32 rows of a group per warp, beside 64 keys at a time, with an online softmax in
// registers. While scores are made the values are copied, while values are summed up the next keys.
#include "products_mma.cuh"
#include "scores.cuh"

namespace kk_cuda {
namespace {

// Keys at a time. Compiled for sm_100 and newer, sums of 128 columns and scores of 64 keys beside them don't fit the registers.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
constexpr int kKeysBeside128 = 32;
#else
constexpr int kKeysBeside128 = 64;
#endif
template <int kWidth, bool kPlain>
constexpr int kKeysOf = kPlain && kWidth == 128 ? kKeysBeside128 : 64;

// One of the rows of a lane.
struct Row {
  float largest, total;  // of all lanes; of this lane's keys
};

// Where a row is, found again where it is needed: registers are scarce.
struct Rows {
  const int* lengths;
  int pair, first;  // batch and group; the lane's first row

  __device__ int Batch(const AttentionParams& p) const { return pair / p.groups; }
  __device__ RowPlace At(const AttentionParams& p, int i) const {
    return GetPlace(p, pair % p.groups, min(first + i, p.queries * p.shared - 1));
  }
  __device__ Seen SeenAt(const AttentionParams& p, int i) const {
    return SeenBy(p, GetLength(p, lengths, Batch(p)), At(p, i).query);
  }
};

// The elements of half a fragment's row: element i is key i / 2 * 8 + i % 2 after the lane's first one.
template <int kHalf, int kN, class F>
__device__ inline void ForKeys(float (&scores)[kN][4], const F& f) {
#pragma unroll
  for (int i = 0; i < kN * 2; ++i) f(scores[i / 2][2 * kHalf + i % 2], i / 2 * 8 + i % 2);
}

// kPlain: without a mask and a soft cap, and p.factor > 0: so scores are multiplied by it where the largest is subtracted. row: the
// lane's row `at` of `rows`. edge: some row of the block doesn't see some key.
template <int kHalf, bool kPlain, int kN>
__device__ inline void Weigh(float (&scores)[kN][4], Row& row, const Rows& rows, int at, const AttentionParams& p,
                             const void* mask, int key, bool edge, float* factor) {
  const int first_key = key + (threadIdx.x & 3) * 2;  // of this lane
  if (!kPlain && p.cap == 0) {
    ForKeys<kHalf>(scores, [&](float& s, int) { s *= p.factor; });
  } else if (!kPlain) {
    ForKeys<kHalf>(scores, [&](float& s, int) { s = Score(s, p.factor, p.cap); });
  }
  if (!kPlain && p.mask.kind != kNoMask) {
    const RowPlace place = rows.At(p, at);
    const long long of_row = MaskRow(p, rows.Batch(p), place.head, place.query);
    const int last = rows.SeenAt(p, at).last;
    WithMask(p.mask.kind, mask, [&](const auto* elements) {
      ForKeys<kHalf>(scores, [&](float& s, int after) {
        if (first_key + after < last) s = Masked(s, elements[of_row + (first_key + after) * p.mask.key]);
      });
    });
  }
  if (edge) {
    const Seen seen = rows.SeenAt(p, at);
    ForKeys<kHalf>(scores, [&](float& s, int after) {
      if (first_key + after < seen.first || first_key + after >= seen.last) s = -kInfinity;
    });
  }
  const float by = kPlain ? p.factor : 1;
  float largest = -kInfinity;
  ForKeys<kHalf>(scores, [&](float& s, int) { largest = fmaxf(largest, s); });
  largest = fmaxf(row.largest, QuadMax(largest) * by);
  const float origin = Origin(largest);
  *factor = Exp2(row.largest - origin);
  row.largest = largest;
  row.total *= *factor;
  ForKeys<kHalf>(scores, [&](float& s, int) {
    s = Exp2(s * by - origin);
    row.total += s;
  });
}

template <int kWidth, int kM, bool kPlain, class T>
__device__ void Attention(const T* q, const T* k, const T* v, const int* lengths, const void* mask, const float* sinks,
                          T* out, float* lse, const AttentionParams& p) {
  constexpr int kOwn = 16 * kM, kRows = kOwn * kMmaThreads / 32;  // of a warp, of a block
  constexpr int kKeys = kKeysOf<kWidth, kPlain>;
  extern __shared__ __align__(256) unsigned char memory[];
  T* const queries = reinterpret_cast<T*>(memory);
  T* const keys = queries + kRows * kWidth;
  T* const values = keys + kKeys * kWidth;
  const int rows = p.queries * p.shared, tiles = (rows + kRows - 1) / kRows;
  // The last queries first: with `causal` they have the most keys.
  const int tile = tiles - 1 - static_cast<int>(blockIdx.x % tiles), pair = blockIdx.x / tiles;
  const int group = pair % p.groups, batch = pair / p.groups, first_row = tile * kRows;
  const int warp = threadIdx.x / 32;
  int lane = threadIdx.x & 31;
  q += batch * p.q.batch;
  const int length = GetLength(p, lengths, batch);
  const Seen earliest = SeenBy(p, length, first_row / p.shared);
  const Seen latest = SeenBy(p, length, (min(first_row + kRows, rows) - 1) / p.shared);
  const int begin = earliest.first / kKeys * kKeys, end = latest.last;
  // Zeros for the keys from `end` on.
  const auto copy = [&](T* to, const T* of, const Strides& by, int key) {
    const T* const head = of + batch * by.batch + group * by.head;
    CopyRows<kWidth, kKeys>(to, head + key * by.row, by.row, p.width, end - key);
    CommitCopies();
  };

  CopyTile<kWidth, kRows>(queries, q, p.width, [&](int r) {
    const RowPlace at = GetPlace(p, group, first_row + r);
    return first_row + r < rows ? q + at.query * p.q.row + at.head * p.q.head : nullptr;
  });
  copy(keys, k, p.k, begin);
  T* const own = queries + warp * kOwn * kWidth;  // a multiple of 16 rows: the swizzle is that of the whole tile
  const Rows places = {lengths, pair, first_row + warp * kOwn + lane / 4};
  Row row[kM][2];
#pragma unroll
  for (int i = 0; i < kM * 2; ++i) {
    const float sink = GetSink(sinks, places.At(p, 8 * i).head);
    row[i / 2][i % 2] = {sink, (lane & 3) == 0 && sink != -kInfinity ? 1.0f : 0.0f};
  }
  float sums[kM][kWidth / 8][4] = {};
  for (int key = begin; key < end; key += kKeys) {
    if (kM * kWidth == 256) KeepAddressesOut(lane);
    WaitForCopies();
    __syncthreads();
    copy(values, v, p.v, key);
    float scores[kM][kKeys / 8][4];
    Dots<kWidth>(scores, own, keys, lane);
    const bool edge = key < latest.first || key + kKeys > earliest.last;
#pragma unroll
    for (int m = 0; m < kM; ++m) {
      float factor[2];
      Weigh<0, kPlain>(scores[m], row[m][0], places, 16 * m, p, mask, key, edge, &factor[0]);
      Weigh<1, kPlain>(scores[m], row[m][1], places, 16 * m + 8, p, mask, key, edge, &factor[1]);
      if (__all_sync(~0u, factor[0] == 1 && factor[1] == 1)) continue;  // no larger score has come
#pragma unroll
      for (int i = 0; i < kWidth / 2; ++i) sums[m][i / 4][i % 4] *= factor[i % 4 / 2];
    }
    WaitForCopies();
    __syncthreads();
    if (key + kKeys < end) copy(keys, k, p.k, key + kKeys);
    AddProduct<kWidth>(sums, scores, values, lane);
  }
  WaitForCopies();
  __syncthreads();

  // Through shared memory, in the place of the warp's own queries, so that 16 bytes at a time are stored.
#pragma unroll
  for (int i = 0; i < kM * 2; ++i) {
    const Row& of = row[i / 2][i % 2];
    const float total = GetTotal(p, lengths, batch, QuadSum(of.total)), scale = total == 0 ? 0 : 1 / total;
    const int r = warp * kOwn + i * 8 + lane / 4;
#pragma unroll
    for (int n = 0; n < kWidth / 8; ++n) {
      T* const to = queries + TileOffset<kWidth>(r, n) + (lane & 3) * 2;
      const float* const two = &sums[i / 2][n][i % 2 * 2];
      *reinterpret_cast<uint32_t*>(to) = PackPair<T>(two[0] * scale, two[1] * scale);
    }
    if ((lane & 3) == 0 && first_row + r < rows) {
      lse[LseRow(p, batch, GetPlace(p, group, first_row + r))] = LogSum(of.largest, total);
    }
  }
  __syncwarp();
  constexpr int kChunks = kWidth / kChunk;
  for (int i = lane; i < kOwn * kChunks; i += 32) {
    const int r = warp * kOwn + i / kChunks, chunk = i % kChunks;
    if (first_row + r >= rows || chunk * kChunk >= p.width) continue;
    const long long to = OutRow(p, batch, GetPlace(p, group, first_row + r)) * p.width + chunk * kChunk;
    *reinterpret_cast<uint4*>(out + to) = *reinterpret_cast<const uint4*>(queries + TileOffset<kWidth>(r, chunk));
  }
}

}  // namespace
}  // namespace kk_cuda

#define KK_ATTENTION(name, T, width, m, plain)                                                                   \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kMmaThreads, 2)                                          \
      name(const T* q, const T* k, const T* v, const int* lengths, const void* mask, const float* sinks, T* out, \
           float* lse, const __grid_constant__ kk_cuda::AttentionParams p) {                                     \
    kk_cuda::Attention<width, m, plain>(q, k, v, lengths, mask, sinks, out, lse, p);                             \
  }
#define KK_ATTENTIONS(name, T, width)                          \
  KK_ATTENTION(attention_##name##_##width, T, width, 1, false) \
  KK_ATTENTION(attention_plain_##name##_##width, T, width, 2, true)
KK_ATTENTIONS(f16, __half, 32)
KK_ATTENTIONS(f16, __half, 64)
KK_ATTENTIONS(f16, __half, 128)
KK_ATTENTIONS(bf16, __nv_bfloat16, 32)
KK_ATTENTIONS(bf16, __nv_bfloat16, 64)
KK_ATTENTIONS(bf16, __nv_bfloat16, 128)
