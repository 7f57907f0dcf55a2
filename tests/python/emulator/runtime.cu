// Calls of kernels' host code into NVIDIA's runtime library, on the emulated device.
#include <kernpack/cuda.h>

#include <string>
#include <vector>

namespace kp = kernpack;
namespace {

__constant__ float c_table[4];
__device__ int g_runs;

__global__ void Add(const float* x, float* out, int n) {
  extern __shared__ float shared[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  shared[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) out[i] = shared[threadIdx.x] + c_table[i & 3];
  if (i == 0) atomicAdd(&g_runs, 1);
}

// Constants, a variable of the device, dynamic shared memory, <<<>>>.
void Table(kp::TensorView x, double first, kp::MutTensorView out) {
  const kp::cuda::DeviceGuard guard(x.device());
  const int n = static_cast<int>(x.numel());
  const float table[] = {static_cast<float>(first), 2, 3, 4};
  int before = 0, after = 0;
  KP_CUDA_CHECK(cudaMemcpyFromSymbol(&before, g_runs, sizeof before));
  KP_CUDA_CHECK(cudaMemcpyToSymbol(c_table, table, sizeof table));
  Add<<<kp::cuda::blocks(n, 64), 64, 64 * sizeof(float), kp::cuda::stream(x)>>>(x.data_ptr<float>(),
                                                                                out.data_ptr<float>(), n);
  KP_CUDA_CHECK(cudaGetLastError());
  KP_CUDA_CHECK(cudaDeviceSynchronize());
  KP_CUDA_CHECK(cudaMemcpyFromSymbol(&after, g_runs, sizeof after));
  KP_CHECK(after == before + 1, RuntimeError) << before << " " << after;
}

// Two streams with an event between them, memory of every kind.
void Memory(kp::TensorView x, kp::MutTensorView out) {
  const kp::cuda::DeviceGuard guard(x.device());
  const size_t bytes = static_cast<size_t>(x.numel()) * sizeof(float);
  float *device = nullptr, *pool = nullptr, *pinned = nullptr, *managed = nullptr;
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t done = nullptr;
  KP_CUDA_CHECK(cudaMalloc(&device, bytes));
  KP_CUDA_CHECK(cudaMallocHost(&pinned, bytes));
  KP_CUDA_CHECK(cudaMallocManaged(&managed, bytes));
  KP_CUDA_CHECK(cudaStreamCreate(&first));
  KP_CUDA_CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  KP_CUDA_CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
  KP_CUDA_CHECK(cudaMallocAsync(&pool, bytes, first));
  KP_CUDA_CHECK(cudaMemsetAsync(pool, 0, bytes, first));
  KP_CUDA_CHECK(cudaStreamSynchronize(kp::cuda::stream(x)));
  KP_CUDA_CHECK(cudaMemcpyAsync(pool, x.data_ptr<float>(), bytes, cudaMemcpyDeviceToDevice, first));
  KP_CUDA_CHECK(cudaMemcpyAsync(pinned, pool, bytes, cudaMemcpyDeviceToHost, first));
  KP_CUDA_CHECK(cudaFreeAsync(pool, first));
  KP_CUDA_CHECK(cudaEventRecord(done, first));
  KP_CUDA_CHECK(cudaStreamWaitEvent(second, done, 0));
  KP_CUDA_CHECK(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, second));
  KP_CUDA_CHECK(cudaStreamSynchronize(second));
  KP_CUDA_CHECK(cudaEventQuery(done));
  KP_CUDA_CHECK(cudaMemcpy(managed, device, bytes, cudaMemcpyDefault));
  KP_CUDA_CHECK(cudaMemcpy(out.data_ptr<float>(), managed, bytes, cudaMemcpyDefault));
  KP_CUDA_CHECK(cudaEventDestroy(done));
  KP_CUDA_CHECK(cudaStreamDestroy(first));
  KP_CUDA_CHECK(cudaStreamDestroy(second));
  KP_CUDA_CHECK(cudaFree(device));
  KP_CUDA_CHECK(cudaFree(managed));
  KP_CUDA_CHECK(cudaFreeHost(pinned));
  KP_CUDA_CHECK(cudaFree(nullptr));
}

// More shared memory than 48 KiB, which has to be asked for; what is known of the kernel and of the device.
void Shared(kp::TensorView x, kp::MutTensorView out) {
  cudaFuncAttributes attributes{};
  KP_CUDA_CHECK(cudaFuncGetAttributes(&attributes, Add));
  KP_CHECK(attributes.maxThreadsPerBlock == 1024, RuntimeError) << attributes.maxThreadsPerBlock;
  int most = 0, devices = 0;
  KP_CUDA_CHECK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, x.device().id));
  KP_CUDA_CHECK(cudaGetDeviceCount(&devices));
  KP_CHECK(devices == 2 && most == (kp::cuda::arch(x.device()) >= 900 ? 227 : 163) << 10, RuntimeError) << most;
  kp::cuda::launch(x, Add, 1, 64, static_cast<size_t>(most), x.data_ptr<float>(), out.data_ptr<float>(),
                   static_cast<int>(x.numel()));
}

// Facts by which host code sizes its launches.
void Sizes(kp::TensorView x, kp::MutTensorView out) {
  const kp::cuda::DeviceGuard guard(x.device());
  cudaDeviceProp has{};
  KP_CUDA_CHECK(cudaGetDeviceProperties(&has, x.device().id));
  int blocks = 0, few = 0, grid = 0, block = 0;
  size_t shared = 0;
  KP_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, Add, 256, 0));
  KP_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&few, Add, 64, 80 << 10));
  KP_CUDA_CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, Add, 0, 0));
  KP_CUDA_CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, Add, 4, 64));
  const double values[] = {has.major * 10.0 + has.minor,
                           1.0 * has.warpSize,
                           1.0 * has.maxThreadsPerMultiProcessor,
                           has.sharedMemPerBlockOptin / 1024.0,
                           1.0 * has.maxGridSize[0],
                           1.0 * blocks,
                           1.0 * few,
                           1.0 * grid / has.multiProcessorCount,
                           1.0 * block,
                           shared / 1024.0};
  std::vector<float> host(values, values + 10);
  KP_CUDA_CHECK(cudaMemcpy(out.data_ptr<float>(), host.data(), 10 * sizeof(float), cudaMemcpyHostToDevice));
  KP_CHECK(has.totalGlobalMem > 0 && std::string(has.name).size() > 0, RuntimeError) << has.name;
  KP_CHECK(cudaGetDeviceProperties(&has, 9) == cudaErrorInvalidDevice, RuntimeError) << "of no device";
  KP_CHECK(cudaGetLastError() == cudaErrorInvalidDevice, RuntimeError) << "the last error";
}

void TooManyThreads(kp::TensorView x, kp::MutTensorView out) {
  const kp::cuda::DeviceGuard guard(x.device());
  Add<<<1, 2048, 0, kp::cuda::stream(x)>>>(x.data_ptr<float>(), out.data_ptr<float>(), 0);
  KP_CUDA_CHECK(cudaGetLastError());
}
void TooMuchShared(kp::TensorView x, kp::MutTensorView out) {
  kp::cuda::launch(x, Add, 1, 64, 500000, x.data_ptr<float>(), out.data_ptr<float>(), 0);
}
void NoSymbol(kp::TensorView, kp::MutTensorView) {
  static int of_the_host = 0;
  KP_CUDA_CHECK(cudaMemcpyToSymbol(reinterpret_cast<const char*>(&of_the_host), "", 1));
}
void NoDevice(kp::TensorView, kp::MutTensorView) { KP_CUDA_CHECK(cudaSetDevice(7)); }
void OutOfMemory(kp::TensorView, kp::MutTensorView) {
  void* pointer = nullptr;
  KP_CUDA_CHECK(cudaMalloc(&pointer, size_t{1} << 45));
}
void PastTheEnd(kp::TensorView x, kp::MutTensorView out) {
  kp::cuda::launch(x, Add, 1, 64, 256, x.data_ptr<float>(), out.data_ptr<float>(), 64);
}
void LastErrorIsGone(kp::TensorView, kp::MutTensorView) {
  KP_CHECK(cudaPeekAtLastError() == cudaSuccess, RuntimeError) << cudaGetErrorName(cudaPeekAtLastError());
}

}  // namespace

#define ON_CUDA ") -> (out: f32[N]) with on \"cuda\""
KP_MODULE("runtime_library", "1.0.0");
KP_EXPORT(table, Table, "(x: f32[N], *, first: float = 1.0" ON_CUDA);
KP_EXPORT(memory, Memory, "(x: f32[N]" ON_CUDA);
KP_EXPORT(shared, Shared, "(x: f32[N]" ON_CUDA);
KP_EXPORT(sizes, Sizes, "(x: f32[N]" ON_CUDA);
KP_EXPORT(too_many_threads, TooManyThreads, "(x: f32[N]" ON_CUDA);
KP_EXPORT(too_much_shared, TooMuchShared, "(x: f32[N]" ON_CUDA);
KP_EXPORT(no_symbol, NoSymbol, "(x: f32[N]" ON_CUDA);
KP_EXPORT(no_device, NoDevice, "(x: f32[N]" ON_CUDA);
KP_EXPORT(out_of_memory, OutOfMemory, "(x: f32[N]" ON_CUDA);
KP_EXPORT(past_the_end, PastTheEnd, "(x: f32[N]" ON_CUDA);
KP_EXPORT(last_error_is_gone, LastErrorIsGone, "(x: f32[N]" ON_CUDA);
