// The gradients of layer_norm and rms_norm, also of a sum, of rows that the registers of a warp or a block hold; norms_backward.cu takes
// the others. A warp or block goes through its part of the rows, and its registers add up what the part gives to the weight's gradient and
// the bias's: sum_parts.cu adds the parts. Rows whose sums f32 can't hold come after the others of their batch. While a row is worked on,
// the next one is copied to shared memory: each thread copies, and reads, chunks of its own.
#include "common/cuda/async.cuh"
#include "common/cuda/chunks.cuh"
#include "moments.cuh"
#include "common/cuda/team.cuh"

namespace kk_cuda {
namespace {

// One row with sums in f64, from memory; what it gives to the sums over rows is added to `partial`.
template <bool kLayer, class Row, class T>
__device__ __noinline__ void WideRow(const T* d_out, const T* d_sum, const T* x, const void* weight, T* d_x,
                                     T* d_residual, float* partial, const NormBackwardParams& p, long long row) {
  const int width = p.norm.width;
  const T *const from = x + RowOffset(p.norm.x, row), *const d = d_out + row * width;
  const auto get = [&](int i) { return Number(from[i]); };
  const auto g = [&](int i) { return static_cast<double>(Number(d[i])) * NumberAt<float>(p.norm.weight, weight, i); };
  const Moments<float> m = ComputeWideMoments<kLayer, Row, float>(width, p.norm.per_element, p.norm.eps, get);
  double level = 0, by_unit = 0;
  for (int i = Row::Rank(); i < width; i += Row::kThreads) {
    if (kLayer) level += g(i);
    by_unit += g(i) * m.Unit(get(i));
  }
  level = Row::Sum(level) * p.norm.per_element, by_unit = Row::Sum(by_unit) * p.norm.per_element;
  for (int i = Row::Rank(); i < width; i += Row::kThreads) {
    const float unit = m.Unit(get(i));
    float y = static_cast<float>((g(i) - level - unit * by_unit) * m.Slope());
    if (d_sum) y += Number(d_sum[row * width + i]);
    Put(y, d_x + row * width + i);
    if (d_residual) Put(y, d_residual + row * width + i);
    partial[i] += Number(d[i]) * unit;
    if (kLayer) partial[width + i] += Number(d[i]);
  }
}

// A chunk of shared memory by one load: what is made of its parts alone may be loaded in parts, which is slower.
template <class T>
__device__ inline Chunk<T> Whole(const Chunk<T>* from) {
  union {
    uint4 bits;
    Chunk<T> chunk;
  };
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
               : "r"(SharedAddress(from))
               : "memory");
  return chunk;
}

// d_sum: the gradient of the sum that was normalised, null where x was. d_residual is d_x once more, null beside an x alone.
template <bool kLayer, int kThreads, class T>
__device__ void NormBackward(const T* d_out, const T* d_sum, const T* x, const void* weight, T* d_x, T* d_residual,
                             float* partial, const NormBackwardParams& p) {
  using Row = Team<kThreads>;
  using Place = Held<T, kThreads>;
  constexpr int kCount = kChunk<T>, kBatch = 64;
  const int width = p.norm.width;
  const float of_one = static_cast<float>(p.norm.per_element);
  float of_weight[kHeld][kCount] = {}, of_bias[kHeld][kCount] = {};
  partial += Row::Row() * (kLayer ? 2 : 1) * width;  // the team's part
  bool written = false;
  // f(numbers of this thread, where they belong): four at a time, since threads of a warp hold chunks, and one number of each would
  // be a sector of each.
  const auto for_partial = [&](const auto& f) {
#pragma unroll
    for (int c = 0; c < kHeld; ++c) {
      if (Place::At(c) >= width) continue;
#pragma unroll
      for (int i = 0; i < kCount; i += 4) {
        f(&of_weight[c][i], partial + Place::At(c) + i);
        if (kLayer) f(&of_bias[c][i], partial + width + Place::At(c) + i);
      }
    }
  };

  extern __shared__ __align__(16) unsigned char memory[];
  auto* const mine = reinterpret_cast<Chunk<T>*>(memory) + threadIdx.x;
  // The weight for what this thread holds, once for all rows: behind the four rows that are copied.
  auto* const weights =
      reinterpret_cast<Chunk<float>*>(reinterpret_cast<Chunk<T>*>(memory) + 4 * kHeld * Row::kBlock) + threadIdx.x;
#pragma unroll
  for (int c = 0; c < kHeld; ++c) {
    if (Place::At(c) >= width) continue;
    float w[kCount];
    LoadNumbers<T>(w, p.norm.weight, weight, Place::At(c));
#pragma unroll
    for (int i = 0; i < kCount; i += 4) {
      weights[(c * kCount + i) / 4 * Row::kBlock] = {{w[i], w[i + 1], w[i + 2], w[i + 3]}};
    }
  }
  const auto weights_of = [&](int c, float(&w)[kCount]) {
#pragma unroll
    for (int i = 0; i < kCount; i += 4) {
      const Chunk<float> four = Whole(weights + (c * kCount + i) / 4 * Row::kBlock);
#pragma unroll
      for (int e = 0; e < 4; ++e) w[i + e] = four.at[e];
    }
  };
  const auto place = [&](long long row, int which, int c) {
    return mine + (((row & 1) * 2 + which) * kHeld + c) * Row::kBlock;
  };
  const auto copy = [&](long long row) {
    const T *const from = x + RowOffset(p.norm.x, row), *const d = d_out + row * width;
#pragma unroll
    for (int c = 0; c < kHeld; ++c) {
      if (Place::At(c) >= width) continue;
      CopyChunk(place(row, 0, c), from + Place::At(c), true);
      CopyChunk(place(row, 1, c), d + Place::At(c), true);
    }
  };

  const long long begin = p.norm.rows * Row::Row() / p.parts, end = p.norm.rows * (Row::Row() + 1) / p.parts;
  if (begin < end) copy(begin);
  CommitCopies();
  for (long long batch = begin; batch == begin || batch < end; batch += kBatch) {  // once where there are no rows
    unsigned long long wide = 0;  // rows of the batch whose sums f32 can't hold
    const int rows = static_cast<int>(max(0ll, min(end - batch, static_cast<long long>(kBatch))));
#pragma unroll 1
    for (int r = 0; r < rows; ++r) {
      const long long row = batch + r;
      if (row + 1 < end) copy(row + 1);
      CommitCopies();
      WaitForCopies<1>();
      // f(c, d_out, weight, x) of the chunks that this thread has. Shared memory is read again for each pass: registers hold the sums.
      const auto for_chunks = [&](const auto& f) {
#pragma unroll
        for (int c = 0; c < kHeld; ++c) {
          if (Place::At(c) >= width) continue;
          float w[kCount];
          weights_of(c, w);
          f(c, Whole(place(row, 1, c)), w, Whole(place(row, 0, c)));
        }
      };
      float mean = 0, rest = 0;
      if (kLayer) {
#pragma unroll
        for (int c = 0; c < kHeld; ++c) {
          if (Place::At(c) >= width) continue;
          const Chunk<T> held = Whole(place(row, 0, c));
#pragma unroll
          for (int e = 0; e < kCount; ++e) mean += Number(held.at[e]);
        }
        mean = Row::Sum(mean) * of_one;
      }
      float sums[4] = {};  // of y - mean, its square, g, g * (y - mean)
      for_chunks([&](int, const Chunk<T>& d, const float(&w)[kCount], const Chunk<T>& held) {
#pragma unroll
        for (int e = 0; e < kCount; ++e) {
          const float away = Number(held.at[e]) - mean, g = Number(d.at[e]) * w[e];
          if (kLayer) sums[0] += away, sums[2] += g;
          sums[1] += away * away, sums[3] += g * away;
        }
      });
      Row::Sum(sums);
      if (kLayer) rest = sums[0] * of_one;
      const float square = sums[1] * of_one - rest * rest;
      const float scale = InverseRoot(static_cast<double>(square) + p.norm.eps);
      const float level = sums[2] * of_one, by_unit = (sums[3] - rest * sums[2]) * of_one * scale;
      if (!(square > 0) || !IsModerate(square) || !IsModerate(level) || !IsModerate(by_unit)) {
        wide |= 1ull << r;
        continue;
      }
      for_chunks([&](int c, const Chunk<T>& d, const float(&w)[kCount], const Chunk<T>& held) {
        const int at = Place::At(c);
        Chunk<T> more{}, result;
        if (d_sum) more = LoadChunk(d_sum + row * width + at);
#pragma unroll
        for (int e = 0; e < kCount; ++e) {
          const float of = Number(d.at[e]), unit = ((Number(held.at[e]) - mean) - rest) * scale;
          float y = (of * w[e] - level - unit * by_unit) * scale;
          if (d_sum) y += Number(more.at[e]);
          Put(y, &result.at[e]);
          of_weight[c][e] += of * unit;
          if (kLayer) of_bias[c][e] += of;
        }
        StoreChunk(result, d_x + row * width + at);
        if (d_residual) StoreChunk(result, d_residual + row * width + at);
      });
    }
    if (wide == 0 && batch + kBatch < end) continue;
    for_partial([&](float* numbers, float* to) {
      Chunk<float> sum{};
      if (written) sum = LoadChunk(to);
#pragma unroll
      for (int e = 0; e < 4; ++e) sum.at[e] += numbers[e], numbers[e] = 0;
      StoreChunk(sum, to);
    });
    written = true;
    if (wide == 0) continue;
    Row::Sync();  // the columns of `partial` are shared out in another way
    for (int r = 0; r < rows; ++r) {
      if (wide >> r & 1) WideRow<kLayer, Row>(d_out, d_sum, x, weight, d_x, d_residual, partial, p, batch + r);
    }
    Row::Sync();
  }
}

}  // namespace
}  // namespace kk_cuda

// Blocks of a multiprocessor: more of them, and registers would be spilled. norm_op.cc knows them, too.
#define KK_BLOCKS(is_layer, threads) ((is_layer ? (threads > 128 ? 256 : 384) : 512) / kk_cuda::Team<threads>::kBlock)
#define KK_NORM(norm, is_layer, name, T, threads)                                                                     \
  extern "C" __global__ void __launch_bounds__(kk_cuda::Team<threads>::kBlock, KK_BLOCKS(is_layer, threads))          \
      norm##_held_backward_##name##_##threads(const T* d_out, const T* d_sum, const T* x, const void* weight, T* d_x, \
                                              T* d_residual, float* partial,                                          \
                                              const __grid_constant__ kk_cuda::NormBackwardParams p) {                \
    kk_cuda::NormBackward<is_layer, threads>(d_out, d_sum, x, weight, d_x, d_residual, partial, p);                   \
  }
#define KK_NORMS(name, T, threads)            \
  KK_NORM(layer_norm, true, name, T, threads) \
  KK_NORM(rms_norm, false, name, T, threads)
#define KK_NORMS_OF(name, T) KK_NORMS(name, T, 32) KK_NORMS(name, T, 128) KK_NORMS(name, T, 256)
KK_NORMS_OF(f32, float)
KK_NORMS_OF(f16, __half)
KK_NORMS_OF(bf16, __nv_bfloat16)
