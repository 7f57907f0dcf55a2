// The kernel, the same before and after: one block per row.
#pragma once

__device__ inline float BlockReduce(float value, float* shared, bool largest) {
  shared[threadIdx.x] = value;
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) {
      const float other = shared[threadIdx.x + step];
      shared[threadIdx.x] = largest ? fmaxf(shared[threadIdx.x], other) : shared[threadIdx.x] + other;
    }
    __syncthreads();
  }
  const float result = shared[0];
  __syncthreads();
  return result;
}

__global__ void RowSoftmax(const float* x, float* out, long long columns) {
  extern __shared__ float shared[];
  const float* in = x + blockIdx.x * columns;
  float* to = out + blockIdx.x * columns;
  float most = -INFINITY;
  for (long long c = threadIdx.x; c < columns; c += blockDim.x) most = fmaxf(most, in[c]);
  most = BlockReduce(most, shared, true);
  float sum = 0;
  for (long long c = threadIdx.x; c < columns; c += blockDim.x) sum += expf(in[c] - most);
  sum = BlockReduce(sum, shared, false);
  for (long long c = threadIdx.x; c < columns; c += blockDim.x) to[c] = expf(in[c] - most) / sum;
}
