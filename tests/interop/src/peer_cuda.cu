// CUDA kernels behind functions of apache-tvm-ffi's SDK, which check nothing and launch on the stream that the host set.
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/extra/cuda/device_guard.h>
#include <tvm/ffi/tvm_ffi.h>

namespace ffi = tvm::ffi;

namespace {

__global__ void ScaleKernel(const float* x, float k, float* y, int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] * k;
}

__global__ void RowSumsKernel(const float* x, float* sums, int64_t columns) {
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (int64_t j = 0; j < columns; ++j) sum += x[blockIdx.x * columns + j];
  sums[blockIdx.x] = sum;
}

cudaStream_t StreamOf(const ffi::TensorView& x) {
  return static_cast<cudaStream_t>(TVMFFIEnvGetStream(x.device().device_type, x.device().device_id));
}

void Check() {
  if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
    TVM_FFI_THROW(RuntimeError) << cudaGetErrorString(error);
  }
}

void Scale(ffi::TensorView x, double k, ffi::TensorView y) {
  const ffi::CUDADeviceGuard guard(x.device().device_id);
  const int64_t n = x.numel();
  ScaleKernel<<<static_cast<unsigned>((n + 127) / 128), 128, 0, StreamOf(x)>>>(
      static_cast<const float*>(x.data_ptr()), static_cast<float>(k), static_cast<float*>(y.data_ptr()), n);
  Check();
}

void RowSums(ffi::TensorView sums, ffi::TensorView x, int64_t columns) {
  const ffi::CUDADeviceGuard guard(x.device().device_id);
  RowSumsKernel<<<static_cast<unsigned>(x.size(0)), 32, 0, StreamOf(x)>>>(
      static_cast<const float*>(x.data_ptr()), static_cast<float*>(sums.data_ptr()), columns);
  Check();
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(scale_f32, Scale);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(row_sums, RowSums);
