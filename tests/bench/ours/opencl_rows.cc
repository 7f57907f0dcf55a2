// Layer norm as one writes it in OpenCL C for a CPU: a work item a row, sixteen lanes, the arithmetic of topics/device_code.py.
#include <kernpack/device_kernel.h>
#include <kernpack/kernel.h>

namespace kp = kernpack;

constexpr kp::DeviceCode kCode{"rows", "cl", R"(
float Sum(float16 v) {
  const float8 a = v.lo + v.hi;
  const float4 b = a.lo + a.hi;
  const float2 c = b.lo + b.hi;
  return c.lo + c.hi;
}
__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void layer_norm(
    __global const float* restrict x_buffer, ulong x_at, __global const float* restrict weight_buffer, ulong weight_at,
    __global const float* restrict bias_buffer, ulong bias_at, __global float* restrict out_buffer, ulong out_at, long width) {
  __global const float* x = x_buffer + x_at + get_group_id(0) * width;
  __global const float* weight = weight_buffer + weight_at;
  __global const float* bias = bias_buffer + bias_at;
  __global float* out = out_buffer + out_at + get_group_id(0) * width;
  float16 sum = 0;
  for (long j = 0; j < width; j += 16) sum += vload16(0, x + j);
  const float mean = Sum(sum) / width;
  float16 squares = 0;
  for (long j = 0; j < width; j += 16) {
    const float16 centred = vload16(0, x + j) - mean;
    squares += centred * centred;
  }
  const float scale = 1.0f / sqrt(Sum(squares) / width + 1e-5f);
  for (long j = 0; j < width; j += 16) {
    vstore16((vload16(0, x + j) - mean) * scale * vload16(0, weight + j) + vload16(0, bias + j), 0, out + j);
  }
})"};

static void LayerNorm(kp::TensorView x, kp::TensorView weight, kp::TensorView bias, kp::MutTensorView out) {
  kp::launch(x.device(), kCode, "layer_norm", {static_cast<uint32_t>(x.size(0))}, {1}, x, weight, bias, out, x.size(1));
}

KP_MODULE("opencl_rows", "1.0.0");
KP_EXPORT_FOR("opencl", layer_norm, LayerNorm,
              "(x: f32[N, D], weight: f32[D], bias: f32[D]) -> (out: f32[N, D]) where D % 16 == 0");
