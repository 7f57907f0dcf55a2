// Helpers for .cu sources, in addition to kernel.h: checked calls, the call's stream, launches, shared memory, code per architecture.
// For nvcc; the toolkit's own syntax works too.
//
//     __global__ void Scale(const float* x, float by, float* out, int64_t n) {
//       for (int64_t i : kp::cuda::grid_stride(n)) out[i] = x[i] * by;
//     }
//     void ScaleOp(kp::TensorView x, double by, kp::MutTensorView out) {
//       const int64_t n = x.numel();
//       kp::cuda::launch(x, Scale, kp::cuda::blocks(n, 256), 256, 0, x.data_ptr<float>(), float(by), out.data_ptr<float>(), n);
//     }
#ifndef KERNPACK_CUDA_H_
#define KERNPACK_CUDA_H_

#include <cuda_runtime.h>
#include <kernpack/cuda_types.h>
#include <kernpack/kernel.h>

// A call of the CUDA runtime: RuntimeError with the expression, the error's name and text. KP_CUDA_CHECK(cudaGetLastError())
// after a launch with <<<...>>> reports its errors.
#define KP_CUDA_CHECK(expression) ::kernpack::cuda::check((expression), #expression)

// The architecture that is being compiled for, as the toolkit's __CUDA_ARCH__: 750, 900; 0 in host code. For use in #if.
#ifdef __CUDA_ARCH__
#define KP_CUDA_ARCH __CUDA_ARCH__
#else
#define KP_CUDA_ARCH 0
#endif

KP_NAMESPACE_BEGIN
namespace cuda {

[[noreturn]] KP_COLD inline void throw_failed(cudaError_t status, const char* what) {
  KP_THROW(RuntimeError) << what << ": " << cudaGetErrorName(status) << ": " << cudaGetErrorString(status);
}
inline void check(cudaError_t status, const char* what) {
  if (KP_LIKELY(status == cudaSuccess)) return;
  (void)cudaGetLastError();  // what isn't sticky is not the next call's error
  throw_failed(status, what);
}

// The caller's stream, borrowed.
inline cudaStream_t stream(Device device) { return static_cast<cudaStream_t>(kernpack::stream(device)); }
inline cudaStream_t stream(TensorView x) { return cuda::stream(x.device()); }

// Makes `device` the CUDA runtime's current device for its lifetime. ValueError for another type of device.
//
//   const kp::cuda::DeviceGuard guard(x.device());
//   KP_CUDA_CHECK(cudaMemsetAsync(out.data_ptr(), 0, out.nbytes(), kp::cuda::stream(x)));
class DeviceGuard {
 public:
  explicit DeviceGuard(Device device) {
    KP_CHECK(device.is_cuda(), ValueError)
        << "kp::cuda: expected a device of type cuda, got " << device << R"(: say `with on "cuda"` in the signature)";
    KP_CUDA_CHECK(cudaGetDevice(&before_));
    changed_ = before_ != device.id;
    if (changed_) KP_CUDA_CHECK(cudaSetDevice(device.id));
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() {
    if (changed_) (void)cudaSetDevice(before_);
  }

 private:
  int before_ = 0;
  bool changed_ = false;
};

// ---- architectures ----

// The architecture of a device, in the form of __CUDA_ARCH__: 750, 900.
inline int arch(Device device) {
  int major = 0, minor = 0;
  KP_CUDA_CHECK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device.id));
  KP_CUDA_CHECK(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device.id));
  return major * 100 + minor * 10;
}

// Calls f(std::integral_constant<int, A>()) for the last A of the ascending Arch... that isn't above `actual`. RuntimeError if
// all are.
//   kp::cuda::dispatch_arch<750, 900>(kp::cuda::arch(x.device()), [&](auto a) { Run<a.value>(...); });
template <int... Arch, class F>
void dispatch_arch(int actual, F&& f) {
  constexpr int known[] = {Arch...};
  constexpr int count = sizeof...(Arch);
  int chosen = -1;
  for (int i = 0; i < count; ++i) chosen = known[i] <= actual ? known[i] : chosen;
  if (chosen < 0) {
    KP_THROW(RuntimeError) << "the kernel has no code for compute capability " << actual / 100 << '.'
                           << actual / 10 % 10 << "; the oldest that it has is for " << known[0] / 100 << '.'
                           << known[0] / 10 % 10;
  }
  (void)((Arch == chosen && (f(std::integral_constant<int, Arch>()), true)) || ...);
}

// ---- launches ----

// The number of blocks of `threads` threads that cover n items; 0 if n is 0.
inline unsigned blocks(int64_t n, int64_t threads) {
  const int64_t count = (n + threads - 1) / threads;
  return static_cast<unsigned>(count < 0x7fffffff ? count : 0x7fffffff);
}

// kernel<<<grid, block, shared_bytes, stream of the call>>>(args...) on the device of `where`. The arguments are converted to the
// kernel's parameters. A grid without blocks launches nothing. More than 48 KiB of shared memory is enabled as the toolkit
// requires. RuntimeError with the launch's parameters and the reason if it fails.
template <class... Parameter, class... Arg>
void launch(TensorView where, void (*kernel)(Parameter...), dim3 grid, dim3 block, size_t shared_bytes, Arg&&... args) {
  static_assert(sizeof...(Parameter) == sizeof...(Arg),
                "kp::cuda::launch: expected one argument per parameter of the kernel");
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  const DeviceGuard guard(where.device());
  const void* function = reinterpret_cast<const void*>(kernel);
  if (shared_bytes > 48 * 1024) {
    KP_CUDA_CHECK(
        cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)));
  }
  const auto run = [&](Parameter... parameters) {
    void* list[sizeof...(Parameter) + 1] = {const_cast<void*>(static_cast<const void*>(&parameters))..., nullptr};
    return cudaLaunchKernel(function, grid, block, list, shared_bytes, cuda::stream(where));
  };
  const cudaError_t status = run(static_cast<Arg&&>(args)...);
  if (KP_LIKELY(status == cudaSuccess)) return;
  (void)cudaGetLastError();
  Text what;
  what << "launch of " << grid.x << 'x' << grid.y << 'x' << grid.z << " blocks of " << block.x << 'x' << block.y << 'x'
       << block.z << " threads with " << static_cast<int64_t>(shared_bytes) << " bytes of shared memory";
  throw_failed(status, what.c_str());
}

#ifdef __CUDACC__
// ---- in kernels ----

// The launch's dynamic shared memory, from `offset` bytes on, which T's alignment divides.
template <class T>
__device__ inline T* shared(size_t offset = 0) {
  extern __shared__ __align__(16) unsigned char kp_dynamic_shared[];
  return reinterpret_cast<T*>(kp_dynamic_shared + offset);
}

// In a kernel: this thread's items of [0, n), for a grid of any size.
//
//   __global__ void Scale(const float* x, float by, float* out, int64_t n) {
//     for (int64_t i : kp::cuda::grid_stride(n)) out[i] = x[i] * by;
//   }
class grid_stride {
 public:
  struct Iterator {
    int64_t at, step;
    __device__ int64_t operator*() const { return at; }
    __device__ Iterator& operator++() {
      at += step;
      return *this;
    }
    __device__ bool operator!=(const Iterator& end) const { return at < end.at; }
  };
  __device__ explicit grid_stride(int64_t n) : n_(n) {}
  __device__ Iterator begin() const {
    return {int64_t{blockIdx.x} * blockDim.x + threadIdx.x, int64_t{gridDim.x} * blockDim.x};
  }
  __device__ Iterator end() const { return {n_, 0}; }

 private:
  int64_t n_;
};
#endif

}  // namespace cuda
KP_NAMESPACE_END

#endif  // KERNPACK_CUDA_H_
