// Parameters that the host passes to the kernels of sampling by value: read by nvcc and by the host's compiler.
#pragma once

namespace kk_cuda {

constexpr int kLogitThreads = 512;

struct SampleParams {
  int width, top_k;  // 0: all
  long long seed, step;
  float scale;  // 1 / temperature; 0: the largest
  double top_p;
  double least;  // min_p's distance from the largest; -inf: none
};

struct TopkParams {
  int width, k;
  int held;  // places of a row: the power of two from k on
  int shared;  // they lie in shared memory
};

struct PenaltyParams {
  int width, wide;  // tokens are i64
  long long count;  // tokens of a row
  double penalty;
};

}  // namespace kk_cuda
