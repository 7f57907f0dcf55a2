// libcu++'s barriers, pipelines and copies, which are mbarrier, cp.async and, from compute capability 9.0, cp.async.bulk.
#include <cooperative_groups.h>
#include <kernpack/cuda.h>

#include <cuda/barrier>
#include <cuda/pipeline>

namespace kp = kernpack;
namespace cg = cooperative_groups;
namespace {

constexpr int kTile = 128;

// Each tile backwards.
__global__ void WithBarrier(const int* x, int* out, int tiles) {
  __shared__ alignas(16) int tile[kTile];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> ready;
  const auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&ready, block.size());
  block.sync();
  for (int t = 0; t < tiles; ++t) {
    cuda::memcpy_async(block, tile, x + t * kTile, cuda::aligned_size_t<16>(sizeof tile), ready);
    ready.arrive_and_wait();
    out[t * kTile + threadIdx.x] = tile[kTile - 1 - threadIdx.x];
    ready.wait(ready.arrive());
  }
}

// The next tile is on its way while one is written.
__global__ void WithPipeline(const int* x, int* out, int tiles) {
  __shared__ alignas(16) int tile[2][kTile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const auto block = cg::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const auto load = [&](int t) {
    pipeline.producer_acquire();
    cuda::memcpy_async(block, tile[t % 2], x + t * kTile, cuda::aligned_size_t<16>(sizeof tile[0]), pipeline);
    pipeline.producer_commit();
  };
  load(0);
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles) load(t + 1);
    pipeline.consumer_wait();
    out[t * kTile + threadIdx.x] = tile[t % 2][kTile - 1 - threadIdx.x];
    pipeline.consumer_release();
  }
}

template <void (*kKernel)(const int*, int*, int)>
void Backwards(kp::TensorView x, kp::MutTensorView out) {
  kKernel<<<1, kTile, 0, kp::cuda::stream(x)>>>(x.data_ptr<int>(), out.data_ptr<int>(),
                                                static_cast<int>(x.numel() / kTile));
  KP_CUDA_CHECK(cudaGetLastError());
}

}  // namespace

KP_MODULE("barriers", "1.0.0");
KP_EXPORT(barrier, Backwards<WithBarrier>, "(x: i32[N]) -> (out: i32[N]) with on \"cuda\"");
KP_EXPORT(pipeline, Backwards<WithPipeline>, "(x: i32[N]) -> (out: i32[N]) with on \"cuda\"");
