// The kernels of gpu_test.cc; the same as PTX, for where there is no nvcc: tests/device/cuda/kernels_ptx.h.
#include <cooperative_groups.h>

extern "C" __global__ void kp_test_scale(float* x, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}

extern "C" __global__ void kp_test_add(float* out, const float* a, const float* b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}

// grid, block, blocks of a cluster, bytes of dynamic shared memory, of which every thread writes some
extern "C" __global__ void kp_test_shape(unsigned* out) {
  extern __shared__ unsigned char dynamic[];
  __shared__ volatile unsigned char fixed[1024];
  unsigned bytes;
  asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
  for (unsigned i = threadIdx.x; i < bytes; i += blockDim.x) dynamic[i] = 1;
  fixed[threadIdx.x % 1024] = 1;
  unsigned cluster = 1;
#if __CUDA_ARCH__ >= 900
  cluster = cooperative_groups::this_cluster().num_blocks();
#endif
  if (blockIdx.x + blockIdx.y + blockIdx.z + threadIdx.x + threadIdx.y + threadIdx.z != 0) return;
  const unsigned seen[] = {gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y, blockDim.z, cluster, bytes};
  for (int i = 0; i < 8; ++i) out[i] = seen[i];
}

extern "C" __global__ void __launch_bounds__(128) kp_test_bounded() {}
