// Blocks that run together: clusters with shared memory in common, and a cooperative launch that waits for its whole grid.
#include <cooperative_groups.h>
#include <kernpack/cuda.h>

namespace kp = kernpack;
namespace cg = cooperative_groups;
namespace {

// Counts values of 0 to 255; each of a cluster's four blocks holds 64 of the counts.
__global__ void __cluster_dims__(4, 1, 1) Count(const int* x, int n, int* out) {
  __shared__ int counts[64];
  const auto cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) counts[i] = 0;
  cluster.sync();
  for (int i = cluster.thread_rank(); i < n; i += cluster.num_threads()) {
    const int value = x[i] & 255;
    atomicAdd(cluster.map_shared_rank(counts, value / 64) + value % 64, 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < 64; i += blockDim.x) out[cluster.block_rank() * 64 + i] = counts[i];
}

// out[i] = 100 * the block that is read + its number; without the last barrier a block may end while it's read.
template <bool kWaits>
__global__ void Next(int* out) {
  __shared__ int mine;
  const auto cluster = cg::this_cluster();
  if (threadIdx.x == 0) mine = blockIdx.x;
  cluster.barrier_arrive();
  cluster.barrier_wait();
  if (threadIdx.x == 0) {
    const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    const int* there = cluster.map_shared_rank(&mine, next);
    for (int i = 0; !kWaits && cluster.block_rank() == 0 && i < 20000; ++i) out[gridDim.x] = i;
    out[blockIdx.x] = 100 * cluster.query_shared_rank(there) + *there;
  }
  if (kWaits) cluster.sync();
}

void Counts(kp::TensorView x, kp::MutTensorView out) {
  Count<<<4, 64, 0, kp::cuda::stream(x)>>>(x.data_ptr<int>(), static_cast<int>(x.numel()), out.data_ptr<int>());
  KP_CUDA_CHECK(cudaGetLastError());
}

template <bool kWaits>
void ReadNext(kp::TensorView x, int64_t blocks, kp::MutTensorView out) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = static_cast<unsigned>(blocks);
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(x.numel() - 1));
  config.blockDim = dim3(32);
  config.stream = kp::cuda::stream(x);
  config.attrs = &attribute;
  config.numAttrs = 1;
  KP_CUDA_CHECK(cudaLaunchKernelEx(&config, Next<kWaits>, out.data_ptr<int>()));
}

// Each pass reads what another block wrote in the pass before.
__global__ void Turn(const int* x, int* out, int n) {
  const auto grid = cg::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  if (i < n) out[i] = x[i];
  grid.sync();
  for (int pass = 0; pass < 3; ++pass) {
    const int next = i < n ? out[(i + 33) % n] : 0;
    grid.sync();
    if (i < n) out[i] = next + 1;
    grid.sync();
  }
}

void Turned(kp::TensorView x, int64_t blocks, kp::MutTensorView out) {
  const int* from = x.data_ptr<int>();
  int* to = out.data_ptr<int>();
  int n = static_cast<int>(x.numel());
  void* arguments[] = {&from, &to, &n};
  KP_CUDA_CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(Turn), dim3(static_cast<unsigned>(blocks)),
                                            dim3(32), arguments, 0, kp::cuda::stream(x)));
}

// The same by <<<>>>, in which no block can wait for others.
void NotTogether(kp::TensorView x, kp::MutTensorView out) {
  Turn<<<4, 32, 0, kp::cuda::stream(x)>>>(x.data_ptr<int>(), out.data_ptr<int>(), static_cast<int>(x.numel()));
  KP_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

#define ON_CUDA " with on \"cuda\""
KP_MODULE("clusters", "1.0.0");
KP_EXPORT(counts, Counts, "(x: i32[N]) -> (out: i32[256])" ON_CUDA);
KP_EXPORT(next, ReadNext<true>, "(x: i32[N], *, blocks: int) -> (out: i32[N])" ON_CUDA);
KP_EXPORT(next_ends, ReadNext<false>, "(x: i32[N], *, blocks: int) -> (out: i32[N])" ON_CUDA);
KP_EXPORT(turned, Turned, "(x: i32[N], *, blocks: int) -> (out: i32[N])" ON_CUDA);
KP_EXPORT(not_together, NotTogether, "(x: i32[N]) -> (out: i32[N])" ON_CUDA);
