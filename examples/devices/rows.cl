// One work group a row. A tensor is two parameters: its buffer, and where its first element is.

// The sum, or the largest, of every work item's value. The group is a power of two wide.
float GroupSum(float value, __local float* scratch) {
  const size_t i = get_local_id(0);
  scratch[i] = value;
  for (size_t n = get_local_size(0) / 2; n > 0; n /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n) scratch[i] += scratch[i + n];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const float sum = scratch[0];
  barrier(CLK_LOCAL_MEM_FENCE);  // the next reduction writes here
  return sum;
}

float GroupMax(float value, __local float* scratch) {
  const size_t i = get_local_id(0);
  scratch[i] = value;
  for (size_t n = get_local_size(0) / 2; n > 0; n /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i < n) scratch[i] = fmax(scratch[i], scratch[i + n]);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const float largest = scratch[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return largest;
}

__kernel void layer_norm(__global const float* x, ulong x0, __global const float* weight, ulong weight0,
                         __global const float* bias, ulong bias0, __global float* out, ulong out0, long width, float eps,
                         __local float* scratch) {
  const ulong row = get_group_id(0) * width;
  const size_t step = get_local_size(0);
  float sum = 0;
  for (long i = get_local_id(0); i < width; i += step) sum += x[x0 + row + i];
  const float mean = GroupSum(sum, scratch) / width;
  float squares = 0;
  for (long i = get_local_id(0); i < width; i += step) {
    const float centred = x[x0 + row + i] - mean;
    squares += centred * centred;
  }
  const float scale = 1.0f / sqrt(GroupSum(squares, scratch) / width + eps);
  for (long i = get_local_id(0); i < width; i += step) {
    out[out0 + row + i] = (x[x0 + row + i] - mean) * scale * weight[weight0 + i] + bias[bias0 + i];
  }
}

// `keep` has one row for every `rows_each` rows of x; what is not kept gets no weight.
__kernel void softmax(__global const float* x, ulong x0, __global const uchar* keep, ulong keep0, __global float* out,
                      ulong out0, long width, long rows_each, __local float* scratch) {
  const ulong row = get_group_id(0) * width;
  const ulong kept = keep0 + get_group_id(0) / rows_each * width;
  const size_t step = get_local_size(0);
  float largest = -INFINITY;
  for (long i = get_local_id(0); i < width; i += step) {
    if (keep[kept + i]) largest = fmax(largest, x[x0 + row + i]);
  }
  largest = GroupMax(largest, scratch);
  float sum = 0;
  for (long i = get_local_id(0); i < width; i += step) {
    const float e = keep[kept + i] ? exp(x[x0 + row + i] - largest) : 0;
    out[out0 + row + i] = e;
    sum += e;
  }
  sum = GroupSum(sum, scratch);
  const float scale = sum == 0 ? 0 : 1.0f / sum;
  for (long i = get_local_id(0); i < width; i += step) out[out0 + row + i] *= scale;
}

__kernel void gelu(__global const float* x, ulong x0, __global float* out, ulong out0, long count) {
  const size_t i = get_global_id(0);
  if (i >= count) return;
  const float v = x[x0 + i];
  out[out0 + i] = 0.5f * v * (1.0f + erf(v * M_SQRT1_2_F));
}
