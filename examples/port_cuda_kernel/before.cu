// For ctypes: addresses and sizes, which nothing checks; an error is a number.
#include "softmax.cuh"

extern "C" int row_softmax(const float* x, float* out, long long rows, long long columns, int device,
                           cudaStream_t stream) {
  if (rows == 0 || columns == 0) return cudaSuccess;
  int before = 0;
  cudaError_t status = cudaGetDevice(&before);
  if (status == cudaSuccess) status = cudaSetDevice(device);
  if (status != cudaSuccess) return status;
  RowSoftmax<<<static_cast<unsigned>(rows), 256, 256 * sizeof(float), stream>>>(x, out, columns);
  status = cudaGetLastError();
  cudaSetDevice(before);
  return status;
}
