// packed_linear of f16 and bf16 for many rows of x, for sm_90: the weight's rows are those of the products, the rows of x their columns.
// A warp copies tiles of 64 columns of both ahead of two groups of four warps, which take turns at them. A warp makes numbers of the
// integers of 16 rows of the weight in registers; wgmma reads those of x itself. Neither is rounded, as in packed_linear_mma.cu.
#include "finish.cuh"
#include "integers.cuh"
#include "packed.cuh"

#include "common/cuda/tensor_copy.cuh"
#include "common/cuda/tile.cuh"
#include "common/cuda/wgmma.cuh"

namespace kk_cuda {
namespace {

constexpr int kGroups = kLinearSm90Groups, kStages = kLinearSm90Stages;
constexpr int kMultiplying = 256, kSumming = 96;  // threads that multiply, and that sum rows of x up
constexpr int kWeightRows = kGroups * static_cast<int>(kk::kGroupRows);
constexpr int kTileBlocks = kSwizzled / static_cast<int>(kk::kBlockColumns);
constexpr int kPitch = kWeightRows + 4;  // of sums in shared memory: rows begin in other banks

// The shared memory of a block: the host reserves LinearSm90Bytes(kRows).
template <int kRows, class T>
struct Ring {
  T x[kStages][kRows * kSwizzled];
  unsigned char weight[kStages][kGroups][kTileBlocks][kLinearSm90Slot];
  float of_x[kStages][kTileBlocks][kRows];  // the sum of each row of x within a block
  uint64_t full[kStages], empty[kStages], summed[kStages];
};

// A block of the weight in the ring, as UnpackScale() takes it.
template <PackedFormat F>
struct RingBlock {
  const unsigned char* begin;
  __device__ const unsigned char* block() const { return begin; }
  __device__ const unsigned char* tail() const { return begin + kk::PackedTraits<F>::kBlockBytes; }
};

// The warp that copies: each of its first lanes a block of a group, another one x.
template <PackedFormat F, int kRows, class T>
__device__ inline void Produce(Ring<kRows, T>& ring, const TensorMap& x, const kk::PackedWeight& weight,
                               long long first_group, int first_row) {
  using Traits = kk::PackedTraits<F>;
  static_assert(Traits::kBlockBytes + Traits::kTailBytes <= kLinearSm90Slot, "a block has room");
  constexpr int kBlocks = kGroups * kTileBlocks, kBytes = static_cast<int>(Traits::kBlockBytes + Traits::kTailBytes);
  const int lane = threadIdx.x % 32, own = lane % kTileBlocks;
  const int blocks = static_cast<int>(weight.blocks_per_group());
  // Beyond the last group: that again, for nothing.
  const long long group = min(first_group + lane / kTileBlocks, static_cast<long long>(weight.groups() - 1));
  kk::BlockCursor<F> at(weight, group, min(own, blocks - 1));
  for (int block = 0, i = 0; block < blocks; block += kTileBlocks, ++i) {
    const int s = i % kStages, count = min(kTileBlocks, blocks - block);
    Await(&ring.empty[s], (i / kStages & 1) ^ 1);
    if (lane == 0) {
      ArriveExpecting(&ring.full[s], kRows * kSwizzled * static_cast<int>(sizeof(T)) + kGroups * count * kBytes);
    }
    __syncwarp();
    if (lane < kBlocks && own < count) {
      unsigned char* const to = ring.weight[s][lane / kTileBlocks][own];
      CopyBytes(to, at.block(), Traits::kBlockBytes, &ring.full[s]);
      if (Traits::kTailBytes > 0) CopyBytes(to + Traits::kBlockBytes, at.tail(), Traits::kTailBytes, &ring.full[s]);
#pragma unroll
      for (int n = 0; n < kTileBlocks; ++n) at.Next();
    } else if (lane == kBlocks) {
      CopyBox(ring.x[s], x, i * kSwizzled, first_row, 0, 0, &ring.full[s]);
    }
  }
}

// The warps that sum up rows of x, which the minima of blocks are multiplied with.
template <int kRows, class T>
__device__ inline void SumRows(Ring<kRows, T>& ring, int tiles, int thread) {
  constexpr int kChunks = static_cast<int>(kk::kBlockColumns) / kTileChunk;
  for (int i = 0; i < tiles; ++i) {
    const int s = i % kStages;
    Await(&ring.full[s], i / kStages & 1);
    for (int at = thread; at < kRows * kTileBlocks; at += kSumming) {
      const int row = at % kRows, block = at / kRows;
      float sum = 0;
#pragma unroll
      for (int c = 0; c < kChunks; ++c) {
        const auto chunk = *reinterpret_cast<const uint4*>(ring.x[s] + TileOffset<kSwizzled>(row, block * kChunks + c));
        const T* const numbers = reinterpret_cast<const T*>(&chunk);
#pragma unroll
        for (int n = 0; n < kTileChunk; ++n) sum += Number(numbers[n]);
      }
      ring.of_x[s][block][row] = sum;
    }
    __syncwarp();
    if (thread % 32 == 0) Arrive(&ring.summed[s]);
  }
}

// Two values of row `row` of a block, in the first bytes of their words: of columns 16 step + 8 half + 2 (lane % 4) and the next.
template <PackedFormat F>
__device__ inline uint32_t TwoValues(const unsigned char* block, int row, int step, int half) {
  using Traits = kk::PackedTraits<F>;
  const int word = 2 * half + threadIdx.x % 4 / 2;  // of four columns, of the 16
  const auto pair = [&](int i) -> uint32_t {
    return reinterpret_cast<const uint16_t*>(block)[2 * (16 * i + row) + threadIdx.x % 2];
  };
  if constexpr (Traits::kBits == 8) return pair(4 * step + word);
  const uint32_t low = pair(word) >> (4 * step) & 0x0f0f;
  if constexpr (Traits::kBits == 4) return low;
  return low | (pair(4 + step) >> (2 * word) & 0x0303) << 4;
}

// 16 rows and 32 columns of the weight as numbers, as GroupDots() takes them, 16 columns at a time.
template <PackedFormat F, class T>
__device__ inline void Unpack(uint32_t (&numbers)[2][4], const unsigned char* block) {
  using Traits = kk::PackedTraits<F>;
  const int row = threadIdx.x % 32 / 4;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const uint32_t values = TwoValues<F>(block, row + i % 2 * 8, i / 4, i / 2 % 2);
    numbers[i / 4][i % 4] = TwoNumbers<Traits::kBits, Traits::kOffset>(values, 0, T());
  }
}

// A group's sums of every other tile.
template <PackedFormat F, int kRows, class T>
__device__ inline void AddTiles(float (&sums)[kRows / 8][4], Ring<kRows, T>& ring, int blocks, int own) {
  using Traits = kk::PackedTraits<F>;
  constexpr bool kHasMinima = Traits::kOffset == 0;
  constexpr int kSteps = 2 / Traits::kHalves;  // of 16 columns with the same scales
  const int lane = threadIdx.x % 32, row = lane / 4, tiles = (blocks + kTileBlocks - 1) / kTileBlocks;
  float dots[kRows / 8][4] = {};
  uint32_t numbers[kTileBlocks][2][4] = {};
  for (int i = own; i < tiles; i += 2) {
    const int s = i % kStages, parity = i / kStages & 1, count = min(kTileBlocks, blocks - i * kTileBlocks);
    const auto& weight = ring.weight[s][threadIdx.x / 32 % kGroups];
    const uint64_t of_x = Describe(ring.x[s], 16);
    Await(&ring.full[s], parity);
    Unpack<F, T>(numbers[0], weight[0]);
    if (kHasMinima) Await(&ring.summed[s], parity);
#pragma unroll
    for (int b = 0; b < kTileBlocks; ++b) {
      if (b == count) break;
      const RingBlock<F> block{weight[b]};
#pragma unroll
      for (int half = 0; half < Traits::kHalves; ++half) {
        Pin(dots);
        Pin(numbers[b]);
        BeginProducts();
#pragma unroll
        for (int step = half * kSteps; step < (half + 1) * kSteps; ++step) {
          GroupDots<T>(dots, numbers[b][step], of_x + (2 * b + step) * kSixteenColumns, step > half * kSteps);
        }
        CommitProducts();
        if (half == 0 && b + 1 < count) Unpack<F, T>(numbers[b + 1], weight[b + 1]);  // while tensor cores multiply
        const kk::ScaleAndMinimum of[2] = {kk::UnpackScale<F>(block, row, 16 * half),
                                           kk::UnpackScale<F>(block, row + 8, 16 * half)};
        WaitForProducts<0>();
        Pin(dots);
#pragma unroll
        for (int n = 0; n < kRows / 8; ++n) {
          float2 minima = {};
          if (kHasMinima) minima = *reinterpret_cast<const float2*>(&ring.of_x[s][b][8 * n + 2 * (lane % 4)]);
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            sums[n][e] += of[e / 2].d * dots[n][e];
            if (kHasMinima) sums[n][e] += of[e / 2].m * (e % 2 == 0 ? minima.x : minima.y);
          }
        }
      }
    }
    __syncwarp();
    if (lane == 0) Arrive(&ring.empty[s]);
  }
}

template <PackedFormat F, int kRows, class T>
__device__ inline void Consume(Ring<kRows, T>& ring, const kk::PackedWeight& weight, const Result<T>& result,
                               const PackedLinearParams& p, long long first_group, int first_row) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, own = warp / 4;
  float sums[kRows / 8][4] = {};
  AddTiles<F>(sums, ring, static_cast<int>(weight.blocks_per_group()), own);
  // Both groups' sums meet where x was, which has been multiplied by then.
  auto* const of_rows = reinterpret_cast<float(*)[kPitch]>(ring.x);
  static_assert(sizeof(ring.x) >= sizeof(float) * kRows * kPitch, "they have room");
  const int row = warp % 4 * 16 + lane / 4;
#pragma unroll
  for (int group = 1; group >= 0; --group) {
    SyncSome(1, kMultiplying);
    if (group != own) continue;
#pragma unroll
    for (int i = 0; i < kRows / 2; ++i) {
      float& sum = of_rows[i / 4 * 8 + 2 * (lane % 4) + i % 2][row + i % 4 / 2 * 8];
      sum = group == 1 ? sums[i / 4][i % 4] : sums[i / 4][i % 4] + sum;
    }
  }
  SyncSome(1, kMultiplying);
  for (int i = threadIdx.x; i < kRows * kWeightRows; i += kMultiplying) {
    const int m = i / kWeightRows, r = i % kWeightRows;
    const long long column = first_group * kk::kGroupRows + r;
    if (first_row + m < p.rows && column < weight.rows) Finish(of_rows[m][r], result, p, first_row + m, column);
  }
}

// kBlocks: of a multiprocessor, whose registers are given out by eights.
template <int kRows, int kBlocks, int kOwnRegisters, int kOtherRegisters, class T>
__device__ void PackedLinearSm90(const TensorMap& x, const unsigned char* packed, const Result<T>& result,
                                 const PackedLinearParams& p) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Ring<kRows, T>& ring = *reinterpret_cast<Ring<kRows, T>*>(memory);
  static_assert(sizeof(Ring<kRows, T>) <= LinearSm90Bytes(kRows), "the host reserves as much");
  static_assert(kMultiplying * kOwnRegisters + (kLinearSm90Threads - kMultiplying) * kOtherRegisters <=
                    65536 / kBlocks / kLinearSm90Threads / 8 * 8 * kLinearSm90Threads,
                "there are as many registers, or threads that take some wait for ever");
  const long long first_group = static_cast<long long>(blockIdx.x) * kGroups;
  const int first_row = static_cast<int>(blockIdx.y) * kRows, helper = static_cast<int>(threadIdx.x) - kMultiplying;
  if (threadIdx.x == 0) {
    PrefetchMap(x);
    for (int s = 0; s < kStages; ++s) {
      InitBarrier(&ring.full[s], 1);
      InitBarrier(&ring.empty[s], kMultiplying / 2 / 32);
      InitBarrier(&ring.summed[s], kSumming / 32);
    }
    PublishBarriers();
  }
  __syncthreads();
  WithPacked(packed, p.weight, [&](auto format, const kk::PackedWeight& weight) {
    constexpr PackedFormat kFormat = decltype(format)::value;
    if (helper < 0) {
      TakeRegisters<kOwnRegisters>();
      Consume<kFormat>(ring, weight, result, p, first_group, first_row);
      return;
    }
    GiveRegistersBack<kOtherRegisters>();
    const int tiles = static_cast<int>((weight.blocks_per_group() + kTileBlocks - 1) / kTileBlocks);
    if (helper < 32) {
      Produce<kFormat>(ring, x, weight, first_group, first_row);
    } else if (kk::PackedTraits<kFormat>::kOffset == 0) {
      SumRows(ring, tiles, helper - 32);
    }
  });
}

}  // namespace
}  // namespace kk_cuda

// For so many rows of x at a time; blocks: of a multiprocessor.
#define KK_PACKED_LINEAR_SM90(rows, blocks, own, other, name, T)                                                    \
  extern "C" __global__ void __launch_bounds__(kk_cuda::kLinearSm90Threads, blocks)                                 \
      packed_linear_sm90_##rows##_##name(const __grid_constant__ kk_cuda::TensorMap x, const unsigned char* weight, \
                                         const T* bias, const T* residual, T* out,                                  \
                                         const __grid_constant__ kk_cuda::PackedLinearParams p) {                   \
    kk_cuda::PackedLinearSm90<rows, blocks, own, other>(x, weight, kk_cuda::Result<T>{bias, residual, out}, p);     \
  }
#define KK_PACKED_LINEARS_SM90(name, T)          \
  KK_PACKED_LINEAR_SM90(64, 2, 104, 32, name, T) \
  KK_PACKED_LINEAR_SM90(128, 1, 232, 40, name, T)
KK_PACKED_LINEARS_SM90(bf16, __nv_bfloat16)
KK_PACKED_LINEARS_SM90(f16, __half)
