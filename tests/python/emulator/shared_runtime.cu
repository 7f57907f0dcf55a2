// A program of nvcc's with the runtime library as a shared library, which knows nothing of the emulated device. The first argument is
// the part to run; an error is printed with its line.
#include <cuda_profiler_api.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                   \
  do {                                                                                                \
    if (const cudaError_t error = (call); error != cudaSuccess) {                                     \
      std::printf("line %d: %s: %s\n", __LINE__, cudaGetErrorName(error), cudaGetErrorString(error)); \
      std::exit(1);                                                                                   \
    }                                                                                                 \
  } while (false)
#define REQUIRE(condition)                                         \
  do {                                                             \
    if (!(condition)) {                                            \
      std::printf("line %d: %s is false\n", __LINE__, #condition); \
      std::exit(1);                                                \
    }                                                              \
  } while (false)

namespace {

__device__ int g_sum;

__global__ void Add(int* values, int n, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += by;
  if (i < n) atomicAdd(&g_sum, by);
}

std::vector<int> Read(const int* device, int n) {
  std::vector<int> values(n);
  CHECK(cudaMemcpy(values.data(), device, n * sizeof(int), cudaMemcpyDeviceToHost));
  return values;
}

void Launches() {
  int* values = nullptr;
  CHECK(cudaMalloc(&values, 100 * sizeof(int)));
  CHECK(cudaMemset(values, 0, 100 * sizeof(int)));
  Add<<<4, 32>>>(values, 100, 3);
  CHECK(cudaGetLastError());
  REQUIRE(Read(values, 100) == std::vector<int>(100, 3));
  int sum = 0;
  CHECK(cudaMemcpyFromSymbol(&sum, g_sum, sizeof sum));
  REQUIRE(sum == 300);
  cudaFuncAttributes attributes{};
  CHECK(cudaFuncGetAttributes(&attributes, Add));
  REQUIRE(attributes.maxThreadsPerBlock == 1024);
  int blocks = 0, grid = 0, threads = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, Add, 1024, 0));
  REQUIRE(blocks == 2);
  CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &threads, Add));
  REQUIRE(threads > 0 && grid > 0);
  const char* name = nullptr;
  CHECK(cudaFuncGetName(&name, Add));
  REQUIRE(std::strstr(name, "Add") != nullptr);
  // Kernels of a stream may begin early: the attribute is a hint, with either value.
  for (const int early : {0, 1}) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = early;
    cudaLaunchConfig_t config{};
    config.gridDim = 4, config.blockDim = 32, config.attrs = &attribute, config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, Add, values, 100, 1));
  }
  REQUIRE(Read(values, 100) == std::vector<int>(100, 5));
  CHECK(cudaFree(values));
}

void Rows() {
  int* rows = nullptr;
  size_t pitch = 0;
  CHECK(cudaMallocPitch(&rows, &pitch, 10 * sizeof(int), 3));
  REQUIRE(pitch >= 10 * sizeof(int));
  const int from[3][10] = {{1, 2}, {3, 4}, {5, 6}};
  int to[3][10] = {};
  CHECK(cudaMemcpy2D(rows, pitch, from, sizeof from[0], sizeof from[0], 3, cudaMemcpyHostToDevice));
  CHECK(cudaMemset2D(rows, pitch, 0, sizeof(int), 3));
  CHECK(cudaMemcpy2D(to, sizeof to[0], rows, pitch, sizeof to[0], 3, cudaMemcpyDeviceToHost));
  REQUIRE(to[0][0] == 0 && to[0][1] == 2 && to[2][0] == 0 && to[2][1] == 6);
  CHECK(cudaFree(rows));

  cudaPitchedPtr box{};
  const cudaExtent extent = make_cudaExtent(8, 2, 2);
  CHECK(cudaMalloc3D(&box, extent));
  char bytes[2][2][8] = {}, back[2][2][8] = {};
  bytes[1][1][7] = 42, bytes[0][1][0] = 7;
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(bytes, 8, 8, 2), copy.dstPtr = box, copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  copy.srcPtr = box, copy.dstPtr = make_cudaPitchedPtr(back, 8, 8, 2), copy.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&copy));
  REQUIRE(std::memcmp(bytes, back, sizeof bytes) == 0);
  CHECK(cudaFree(box.ptr));
}

void Memory() {
  cudaStream_t stream = nullptr;
  CHECK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -1));
  int priority = 0;
  CHECK(cudaStreamGetPriority(stream, &priority));
  REQUIRE(priority == -1);
  int *managed = nullptr, *pool = nullptr;
  CHECK(cudaMallocManaged(&managed, 64 * sizeof(int)));
  for (int i = 0; i < 64; ++i) managed[i] = i;
#if CUDART_VERSION >= 13000
  const cudaMemLocation here = {cudaMemLocationTypeDevice, {0}};
  CHECK(cudaMemAdvise(managed, 64 * sizeof(int), cudaMemAdviseSetReadMostly, here));
  CHECK(cudaMemPrefetchAsync(managed, 64 * sizeof(int), here, 0, stream));
#else
  CHECK(cudaMemAdvise(managed, 64 * sizeof(int), cudaMemAdviseSetReadMostly, 0));
  CHECK(cudaMemPrefetchAsync(managed, 64 * sizeof(int), 0, stream));
#endif
  Add<<<1, 64, 0, stream>>>(managed, 64, 1);
  CHECK(cudaStreamSynchronize(stream));
  REQUIRE(managed[63] == 64);

  std::vector<int> mine(64, 5);  // the program's own, which kernels may use once it is registered
  CHECK(cudaHostRegister(mine.data(), 64 * sizeof(int), cudaHostRegisterDefault));
  int* seen = nullptr;
  CHECK(cudaHostGetDevicePointer(&seen, mine.data(), 0));
  Add<<<1, 64, 0, stream>>>(seen, 64, 1);
  CHECK(cudaStreamSynchronize(stream));
  REQUIRE(mine == std::vector<int>(64, 6));
  CHECK(cudaHostUnregister(mine.data()));

  cudaMemPool_t of_device = nullptr;
  CHECK(cudaDeviceGetDefaultMemPool(&of_device, 0));
  CHECK(cudaMallocFromPoolAsync(&pool, 256, of_device, stream));
  CHECK(cudaFreeAsync(pool, stream));

  cudaPointerAttributes attributes{};
  CHECK(cudaPointerGetAttributes(&attributes, managed));
  REQUIRE(attributes.type == cudaMemoryTypeManaged && attributes.hostPointer == managed);
  CHECK(cudaPointerGetAttributes(&attributes, mine.data()));
  REQUIRE(attributes.type == cudaMemoryTypeUnregistered && attributes.device == -1);
  CHECK(cudaFree(managed));
  CHECK(cudaStreamDestroy(stream));
}

void Note(void* data) { ++*static_cast<int*>(data); }

// A capture that a second stream joins, launched twice.
void Graphs() {
  int* values = nullptr;
  CHECK(cudaMalloc(&values, 32 * sizeof(int)));
  CHECK(cudaMemset(values, 0, 32 * sizeof(int)));
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t forked = nullptr, joined = nullptr, begin = nullptr, end = nullptr;
  CHECK(cudaStreamCreate(&first));
  CHECK(cudaStreamCreate(&second));
  for (cudaEvent_t* event : {&forked, &joined, &begin, &end}) CHECK(cudaEventCreate(event));
  CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  Add<<<1, 32, 0, first>>>(values, 32, 1);
  CHECK(cudaEventRecord(forked, first));
  CHECK(cudaStreamWaitEvent(second, forked, 0));
  Add<<<1, 32, 0, second>>>(values, 32, 10);
  CHECK(cudaEventRecord(joined, second));
  CHECK(cudaStreamWaitEvent(first, joined, 0));
  cudaStreamCaptureStatus status{};
  unsigned long long id = 0;
#if CUDART_VERSION >= 13000
  CHECK(cudaStreamGetCaptureInfo(first, &status, &id, nullptr, nullptr, nullptr, nullptr));
#else
  CHECK(cudaStreamGetCaptureInfo_v2(first, &status, &id, nullptr, nullptr, nullptr));
#endif
  REQUIRE(status == cudaStreamCaptureStatusActive && id != 0);
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(first, &graph));
  REQUIRE(Read(values, 32) == std::vector<int>(32, 0));  // captured, not run
  cudaGraphExec_t exec = nullptr;
  CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaEventRecord(begin, first));
  CHECK(cudaGraphLaunch(exec, first));
  CHECK(cudaGraphLaunch(exec, first));
  CHECK(cudaEventRecord(end, first));
  int noted = 0;
  CHECK(cudaLaunchHostFunc(first, Note, &noted));
  CHECK(cudaStreamSynchronize(first));
  REQUIRE(noted == 1);
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
  REQUIRE(milliseconds >= 0);
  REQUIRE(Read(values, 32) == std::vector<int>(32, 22));
  CHECK(cudaGraphExecDestroy(exec));
  REQUIRE(cudaGraphLaunch(exec, first) == cudaErrorInvalidValue);
  // Copies from and to pageable memory touch it each time.
  std::vector<int> from(32, 1), to(32, 0);
  CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
  CHECK(cudaMemcpyAsync(values, from.data(), 32 * sizeof(int), cudaMemcpyHostToDevice, first));
  Add<<<1, 32, 0, first>>>(values, 32, 1);
  CHECK(cudaMemcpyAsync(to.data(), values, 32 * sizeof(int), cudaMemcpyDeviceToHost, first));
  CHECK(cudaStreamEndCapture(first, &graph));
  CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  for (const int value : {3, 5}) {
    from.assign(32, value);
    CHECK(cudaGraphLaunch(exec, first));
    CHECK(cudaStreamSynchronize(first));
    REQUIRE(to == std::vector<int>(32, value + 1));
  }
}

__device__ int Get(const int* values, int i) { return values[i]; }
__global__ void Shift(int* values, int n, int by) { values[threadIdx.x] = Get(values, threadIdx.x + by); }

// The error is in a function that the compiler inlines.
void Inlined() {
  int* values = nullptr;
  CHECK(cudaMalloc(&values, 32 * sizeof(int)));
  CHECK(cudaMemset(values, 0, 32 * sizeof(int)));
  Shift<<<1, 32>>>(values, 32, 1);
  CHECK(cudaDeviceSynchronize());
}

// A program that asks until work is done comes to an end, and is told once that it isn't.
void Polls() {
  int* values = nullptr;
  CHECK(cudaMalloc(&values, 32 * sizeof(int)));
  CHECK(cudaMemset(values, 0, 32 * sizeof(int)));
  cudaStream_t stream = nullptr;
  cudaEvent_t done = nullptr;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreate(&done));
  for (int round = 0; round < 2; ++round) {
    Add<<<1, 32, 0, stream>>>(values, 32, 1);
    CHECK(cudaEventRecord(done, stream));
    REQUIRE(cudaEventQuery(done) == cudaErrorNotReady);
    while (cudaEventQuery(done) == cudaErrorNotReady) {
    }
    CHECK(cudaStreamQuery(stream));
    Add<<<1, 32, 0, stream>>>(values, 32, 1);
    REQUIRE(cudaStreamQuery(stream) == cudaErrorNotReady);
    while (cudaStreamQuery(stream) == cudaErrorNotReady) {
    }
    CHECK(cudaStreamQuery(stream));
  }
  REQUIRE(Read(values, 32) == std::vector<int>(32, 4));
  Add<<<1, 33, 0, stream>>>(values, 33, 1);
  REQUIRE(cudaStreamQuery(stream) == cudaErrorNotReady);
  REQUIRE(std::strstr(cudaGetErrorString(cudaStreamQuery(stream)), "illegal memory access") != nullptr);
}

void Devices() {
  int count = 0, mode = -1, can = 0, major = 0;
  CHECK(cudaGetDeviceCount(&count));
  REQUIRE(count == 2);
  CHECK(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, 0));
  REQUIRE(mode == cudaComputeModeDefault);
  cudaDeviceProp properties{};
  CHECK(cudaGetDeviceProperties(&properties, 1));
  CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 1));
  REQUIRE(properties.major == major && properties.warpSize == 32 && properties.sharedMemPerBlockOptin > 48 << 10);
  CHECK(cudaDeviceCanAccessPeer(&can, 0, 1));
  REQUIRE(can == 1);
  CHECK(cudaDeviceEnablePeerAccess(1, 0));
  int *here = nullptr, *there = nullptr;
  const int value = 17;
  CHECK(cudaMalloc(&here, sizeof(int)));
  CHECK(cudaMemcpy(here, &value, sizeof value, cudaMemcpyHostToDevice));
  CHECK(cudaSetDevice(1));
  CHECK(cudaMalloc(&there, sizeof(int)));
  CHECK(cudaMemcpyPeer(there, 1, here, 0, sizeof(int)));
  REQUIRE(Read(there, 1)[0] == 17);
  char bus[20];
  CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, 1));
  int least = 1, greatest = 1;
  CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  REQUIRE(least == 0 && greatest == -5);
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  CHECK(cudaGetDriverEntryPointByVersion("cuMemAlloc", &entry, 12000, cudaEnableDefault, &found));
  REQUIRE(entry != nullptr && found == cudaDriverEntryPointSuccess);
  CHECK(cudaProfilerStart());
  CHECK(cudaDeviceReset());
}

void Bounds() {
  int* values = nullptr;
  CHECK(cudaMalloc(&values, 31 * sizeof(int)));
  CHECK(cudaMemset(values, 0, 31 * sizeof(int)));
  Add<<<1, 32>>>(values, 32, 1);
  CHECK(cudaDeviceSynchronize());
}

__managed__ int counter = 5;
__managed__ float values_of_both[4];
__global__ void Count(int by) {
  atomicAdd(&counter, by);
  values_of_both[threadIdx.x] = threadIdx.x * 2.0f;
}

// Variables that the host and kernels use at one address.
void Managed() {
  counter += 1;
  REQUIRE(values_of_both[3] == 0);
  Count<<<1, 4>>>(10);
  CHECK(cudaDeviceSynchronize());
  REQUIRE(counter == 46 && values_of_both[3] == 6);
  cudaPointerAttributes about{};
  CHECK(cudaPointerGetAttributes(&about, &counter));
  REQUIRE(about.type == cudaMemoryTypeManaged && about.hostPointer == &counter);
  REQUIRE(cudaFree(&counter) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue ? cudaSuccess : cudaErrorUnknown);
  CHECK(cudaSetDevice(1));
  Count<<<1, 4>>>(10);
  REQUIRE(cudaGetLastError() == cudaErrorNotSupported);
}

// A function that the emulated device doesn't have.
void Missing() {
  cudaExternalMemory_t memory = nullptr;
  for (int i = 0; i < 2; ++i) REQUIRE(cudaDestroyExternalMemory(memory) == cudaErrorNotSupported);
}

}  // namespace

int main(int count, char** words) {
  const struct {
    const char* name;
    void (*run)();
  } parts[] = {{"launches", Launches}, {"rows", Rows},       {"memory", Memory},   {"graphs", Graphs},
               {"polls", Polls},       {"inlined", Inlined}, {"devices", Devices}, {"bounds", Bounds},
               {"missing", Missing},   {"managed", Managed}};
  for (const auto& part : parts) {
    if (count > 1 && std::strcmp(words[1], part.name) == 0) {
      part.run();
      std::printf("%s: done\n", part.name);
      return 0;
    }
  }
  return 2;
}
