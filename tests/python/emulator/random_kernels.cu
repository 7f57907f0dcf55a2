// One kernel, and the same loop on the CPU: the numbers of kp::Philox.
#include <kernpack/cuda.h>
namespace kp = kernpack;

static __host__ __device__ void Four(kp::Philox draw, int64_t i, float* to) {
  const kp::Philox::Block block = draw(static_cast<uint64_t>(i), 3);
  for (int j = 0; j < 2; ++j) to[4 * i + j] = block.uniform(j);
  for (int j = 2; j < 4; ++j) to[4 * i + j] = block.normal(j);
}
__global__ void Fill(const uint32_t* key, float* out, int64_t blocks) {
  for (int64_t i : kp::cuda::grid_stride(blocks)) Four({{key[0], key[1]}}, i, out);
}
static void OnDevice(kp::TensorView key, int64_t n, kp::MutTensorView out) {
  kp::cuda::launch(key, Fill, kp::cuda::blocks(n, 64), 64, 0, key.data_ptr<uint32_t>(), out.data_ptr<float>(), n);
}
static void OnCpu(kp::TensorView key, int64_t n, kp::MutTensorView out) {
  for (int64_t i = 0; i < n; ++i)
    Four({{key.data_ptr<uint32_t>()[0], key.data_ptr<uint32_t>()[1]}}, i, out.data_ptr<float>());
}

KP_MODULE("random_kernels", "1.0.0");
KP_EXPORT(on_device, OnDevice, "(key: u32[2], n: int) -> (out: f32[n, 4]) with on \"cuda\"");
KP_EXPORT(on_cpu, OnCpu, "(key: u32[2], n: int) -> (out: f32[n, 4])");
