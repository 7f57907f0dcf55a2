// One work group (CUDA: block) a row, in OpenCL C and, where nvcc reads it, in CUDA C++.
//
// A tensor is what a backend's launch makes of it: in OpenCL two parameters, its buffer and the index of its first element; in
// CUDA one, the address of that element. TENSOR declares it, FIRST is a pointer to its first element.
#ifdef __CUDACC__
#define KERNEL extern "C" __global__ void
#define FUNCTION __device__
#define DEVICE
#define LOCAL
#define TENSOR(type, name) type* name##_buffer
#define FIRST(name) name##_buffer
#define SCRATCH
#define TAKE_SCRATCH extern __shared__ float scratch[]
#define GROUP blockIdx.x
#define ITEM threadIdx.x
#define ITEMS blockDim.x
#define NUMBER ((index_t)blockIdx.x * blockDim.x + threadIdx.x)
#define BARRIER __syncthreads()
typedef unsigned char uchar;
typedef unsigned long long index_t;
#else
#define KERNEL __kernel void
#define FUNCTION
#define DEVICE __global
#define LOCAL __local
#define TENSOR(type, name) __global type *name##_buffer, ulong name##_index
#define FIRST(name) (name##_buffer + name##_index)
#define SCRATCH , __local float* scratch
#define TAKE_SCRATCH
#define GROUP get_group_id(0)
#define ITEM get_local_id(0)
#define ITEMS get_local_size(0)
#define NUMBER get_global_id(0)
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE)
typedef ulong index_t;
#endif

// The sum, or the largest, of every item's value. The group is a power of two wide.
FUNCTION float GroupSum(float value, LOCAL float* scratch) {
  scratch[ITEM] = value;
  for (index_t n = ITEMS / 2; n > 0; n /= 2) {
    BARRIER;
    if (ITEM < n) scratch[ITEM] += scratch[ITEM + n];
  }
  BARRIER;
  const float sum = scratch[0];
  BARRIER;  // the next reduction writes here
  return sum;
}

FUNCTION float GroupMax(float value, LOCAL float* scratch) {
  scratch[ITEM] = value;
  for (index_t n = ITEMS / 2; n > 0; n /= 2) {
    BARRIER;
    if (ITEM < n) scratch[ITEM] = fmax(scratch[ITEM], scratch[ITEM + n]);
  }
  BARRIER;
  const float largest = scratch[0];
  BARRIER;
  return largest;
}

KERNEL layer_norm(TENSOR(const float, x), TENSOR(const float, weight), TENSOR(const float, bias), TENSOR(float, out),
                  long width, float eps SCRATCH) {
  TAKE_SCRATCH;
  DEVICE const float* in = FIRST(x) + GROUP * (index_t)width;
  DEVICE float* to = FIRST(out) + GROUP * (index_t)width;
  float sum = 0;
  for (long i = ITEM; i < width; i += ITEMS) sum += in[i];
  const float mean = GroupSum(sum, scratch) / width;
  float squares = 0;
  for (long i = ITEM; i < width; i += ITEMS) squares += (in[i] - mean) * (in[i] - mean);
  const float scale = 1.0f / sqrt(GroupSum(squares, scratch) / width + eps);
  for (long i = ITEM; i < width; i += ITEMS) to[i] = (in[i] - mean) * scale * FIRST(weight)[i] + FIRST(bias)[i];
}

// `keep` has one row for every `rows_each` rows of x; what is not kept gets no weight.
KERNEL softmax(TENSOR(const float, x), TENSOR(const uchar, keep), TENSOR(float, out), long width, long rows_each SCRATCH) {
  TAKE_SCRATCH;
  DEVICE const float* in = FIRST(x) + GROUP * (index_t)width;
  DEVICE const uchar* kept = FIRST(keep) + GROUP / (index_t)rows_each * (index_t)width;
  DEVICE float* to = FIRST(out) + GROUP * (index_t)width;
  float largest = -INFINITY;
  for (long i = ITEM; i < width; i += ITEMS) {
    if (kept[i]) largest = fmax(largest, in[i]);
  }
  largest = GroupMax(largest, scratch);
  float sum = 0;
  for (long i = ITEM; i < width; i += ITEMS) {
    const float e = kept[i] ? exp(in[i] - largest) : 0;
    to[i] = e;
    sum += e;
  }
  sum = GroupSum(sum, scratch);
  const float scale = sum == 0 ? 0 : 1.0f / sum;
  for (long i = ITEM; i < width; i += ITEMS) to[i] *= scale;
}

KERNEL gelu(TENSOR(const float, x), TENSOR(float, out), long count) {
  const index_t i = NUMBER;
  if (i >= (index_t)count) return;
  const float v = FIRST(x)[i];
  FIRST(out)[i] = 0.5f * v * (1.0f + erf(v * 0.70710678f));
}
