// CUB's algorithms of a block, and those of a whole device: sums, a scan whose blocks wait for each other's results, a radix sort.
#include <kernpack/cuda.h>

#include <cub/cub.cuh>

namespace kp = kernpack;
namespace {

constexpr int kThreads = 128, kItems = 4;

__global__ void Blocks(const int* x, int* sums, int* scanned, int* sorted) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_TRANSPOSE>;
  using Reduce = cub::BlockReduce<int, kThreads>;
  using Scan = cub::BlockScan<int, kThreads>;
  using Sort = cub::BlockRadixSort<int, kThreads, kItems>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
    typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan;
    typename Sort::TempStorage sort;
  } shared;
  const int begin = blockIdx.x * kThreads * kItems;
  int items[kItems], moved[kItems];
  Load(shared.load).Load(x + begin, items);
  __syncthreads();
  const int sum = Reduce(shared.reduce).Sum(items);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
  __syncthreads();
  Scan(shared.scan).InclusiveSum(items, moved);
  __syncthreads();
  Store(shared.store).Store(scanned + begin, moved);
  __syncthreads();
  Sort(shared.sort).Sort(items);
  __syncthreads();
  Store(shared.store).Store(sorted + begin, items);
}

void OfBlocks(kp::TensorView x, kp::MutTensorView sums, kp::MutTensorView scanned, kp::MutTensorView sorted) {
  const int blocks = static_cast<int>(x.numel()) / (kThreads * kItems);
  kp::cuda::launch(x, Blocks, blocks, kThreads, 0, x.data_ptr<int>(), sums.data_ptr<int>(), scanned.data_ptr<int>(),
                   sorted.data_ptr<int>());
}

void OfDevice(kp::TensorView x, kp::MutTensorView sum, kp::MutTensorView scanned, kp::MutTensorView sorted) {
  const kp::cuda::DeviceGuard guard(x.device());
  const cudaStream_t stream = kp::cuda::stream(x);
  const int n = static_cast<int>(x.numel());
  const int* from = x.data_ptr<int>();
  void* memory = nullptr;
  size_t bytes = 0;
  const auto run = [&](auto algorithm) {
    KP_CUDA_CHECK(algorithm(nullptr, bytes));
    KP_CUDA_CHECK(cudaMallocAsync(&memory, bytes + 1, stream));
    KP_CUDA_CHECK(algorithm(memory, bytes));
    KP_CUDA_CHECK(cudaFreeAsync(memory, stream));
  };
  run([&](void* m, size_t& b) { return cub::DeviceReduce::Sum(m, b, from, sum.data_ptr<int>(), n, stream); });
  run([&](void* m, size_t& b) {
    return cub::DeviceScan::InclusiveSum(m, b, from, scanned.data_ptr<int>(), n, stream);
  });
  run([&](void* m, size_t& b) {
    return cub::DeviceRadixSort::SortKeys(m, b, from, sorted.data_ptr<int>(), n, 0, 32, stream);
  });
}

}  // namespace

KP_MODULE("cub_kernels", "1.0.0");
KP_EXPORT(
    of_blocks, OfBlocks,
    "(x: i32[N]) -> (sums: i32[N // 512], scanned: i32[N], sorted: i32[N]) where N % 512 == 0, N > 0 with on \"cuda\"");
KP_EXPORT(of_device, OfDevice,
          "(x: i32[N]) -> (sum: i32[1], scanned: i32[N], sorted: i32[N]) where N > 0 with on \"cuda\"");
