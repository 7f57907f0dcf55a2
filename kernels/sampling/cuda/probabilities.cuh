// Probabilities of tokens, and what limits the choice of one.
#pragma once

#include "sampling/philox.h"
#include "select.cuh"

namespace kk_cuda {

using Weight = unsigned long long;

// Probabilities are integers, parts of 2^-40 of the largest: so their sums are exact, and no order of threads changes a choice.
template <class T>
struct Probabilities {
  const T* row;
  float largest, scale, least;
  Place last;  // the elements up to it are left

  __device__ Place PlaceOf(int i) const { return GetPlace(Number(row[i]), i); }
  __device__ Weight operator()(int i) const {
    const float x = Number(row[i]);
    if (!(x >= least) || GetPlace(x, i) < last) return 0;
    return __float2ull_rn(expf((x - largest) * scale) * 0x1p40f);
  }
  __device__ Weight Sum(const Elements& elements) const {
    Weight sum = 0;
    elements.ForEach([&](int i) { sum += (*this)(i); });
    return LogitBlock::Sum(sum);
  }
};

// The sum that the tokens left by top_p reach, of `total`.
__device__ inline Weight KeptBy(double top_p, Weight total) {
  return max(static_cast<Weight>(ceil(top_p * static_cast<double>(total))), Weight{1});
}

// A number from 1 to `total`, at random: the same for the row whenever the seed, the step and the round are.
__device__ inline Weight DrawTarget(const SampleParams& p, unsigned round, Weight total) {
  const unsigned long long row = static_cast<unsigned long long>(round) << 32 | blockIdx.x;
  const double u =
      kk::ToUniform(kk::Philox(static_cast<unsigned long long>(p.seed), row, static_cast<unsigned long long>(p.step)));
  return min(static_cast<Weight>(u * static_cast<double>(total)) + 1, total);
}

// The token of the block's row: `choose(row, first)` is its place, `first` the place of the likeliest.
template <class T, class F>
__device__ void WriteToken(const T* logits, int* token, const SampleParams& p, F choose) {
  const T* const row = logits + static_cast<long long>(blockIdx.x) * p.width;
  const Place chosen = choose(row, FindFirst(row, p.width));
  if (threadIdx.x == 0) token[blockIdx.x] = GetIndex(chosen);
}

}  // namespace kk_cuda
