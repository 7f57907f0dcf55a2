// A product of scaled 4-bit numbers for sm_120, and a copy of a convolution's inputs, as nvcc compiles them.
#include <cstdint>

struct alignas(64) TensorMap {
  char bytes[128];
};

__device__ uint32_t Shared(const void* at) { return static_cast<uint32_t>(__cvta_generic_to_shared(at)); }

// D of 16 x 8 = A of 16 x 64 times B of 64 x 8, of e2m1 with four scales of ue4m3 in a row. One warp; each thread's registers are side by
// side.
extern "C" __global__ void scaled(const uint4* a, const uint2* b, const uint32_t* scales_a, const uint32_t* scales_b,
                                  float4* d) {
  const uint32_t lane = threadIdx.x;
  const uint4 of_a = a[lane];
  const uint2 of_b = b[lane];
  const uint16_t byte = 0, thread_a = 1, thread_b = 2;
  float4 sums = {1, 1, 1, 1};
  asm volatile(
      "mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 {%0, %1, %2, "
      "%3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {%12, %13}, {%11}, {%12, %14};"
      : "+f"(sums.x), "+f"(sums.y), "+f"(sums.z), "+f"(sums.w)
      : "r"(of_a.x), "r"(of_a.y), "r"(of_a.z), "r"(of_a.w), "r"(of_b.x), "r"(of_b.y), "r"(scales_a[lane]),
        "r"(scales_b[lane]), "h"(byte), "h"(thread_a), "h"(thread_b));
  d[lane] = sums;
}

// 64 pixels of 8 channels of 16 bits, from the output (w, h, image) on, as the filter's element (s, r) meets them.
extern "C" __global__ void pixels(const __grid_constant__ TensorMap map, uint4* out, int w, int h, int image, int s,
                                  int r) {
  __shared__ alignas(128) uint4 tile[64];
  __shared__ uint64_t barrier;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(Shared(&barrier)));
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(Shared(&barrier)));
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, "
        "%5}], [%6], {%7, %8};" ::"r"(Shared(tile)),
        "l"(&map), "r"(0), "r"(w), "r"(h), "r"(image), "r"(Shared(&barrier)), "h"(static_cast<uint16_t>(s)),
        "h"(static_cast<uint16_t>(r))
        : "memory");
  }
  __syncthreads();
  asm volatile(
      "{\n.reg .pred done;\n$again_%=: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n@!done bra "
      "$again_%=;\n}" ::"r"(Shared(&barrier))
      : "memory");
  out[threadIdx.x] = tile[threadIdx.x];
}
