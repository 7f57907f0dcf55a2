#pragma once

__device__ inline long long item() { return blockIdx.x * (long long)blockDim.x + threadIdx.x; }
