// A matrix product as Hopper's are written: a warp loads tiles by tensor maps into a ring of buffers, four warps multiply them by wgmma,
// and the result leaves by a tensor map.
#include <cstdint>

struct alignas(64) TensorMap {
  char bytes[128];
};

constexpr int kTile = 64, kStages = 3, kTileBytes = kTile * kTile * 2;

__device__ uint32_t Shared(const void* at) { return static_cast<uint32_t>(__cvta_generic_to_shared(at)); }

__device__ void Await(uint64_t* barrier, uint32_t parity) {
  asm volatile(
      "{\n.reg .pred done;\n$again_%=: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra "
      "$again_%=;\n}" ::"r"(Shared(barrier)),
      "r"(parity)
      : "memory");
}

__device__ void LoadTile(void* to, const TensorMap& map, int column, int row, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
          Shared(to)),
      "l"(&map), "r"(column), "r"(row), "r"(Shared(barrier))
      : "memory");
}

// A swizzle of 128 bytes: 8 rows are 1,024 bytes.
__device__ uint64_t Describe(const void* tile) {
  return uint64_t{(Shared(tile) & 0x3ffff) >> 4} | uint64_t{1} << 16 | uint64_t{64} << 32 | uint64_t{1} << 62;
}

#define KP_EIGHT(d, i)                                                                                        \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), \
      "+f"(d[i + 7])

__device__ void MultiplyTile(float* d, uint64_t a, uint64_t b, int keep) {
  asm volatile(
      "{\n.reg .pred keep;\nsetp.ne.b32 keep, %34, 0;\nwgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, "
      "%2, %3, %4, %5, "
      "%6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, "
      "%29, %30, "
      "%31}, %32, %33, keep, 1, 1, 0, 0;\n}"
      : KP_EIGHT(d, 0), KP_EIGHT(d, 8), KP_EIGHT(d, 16), KP_EIGHT(d, 24)
      : "l"(a), "l"(b), "r"(keep));
}

// out[m][n] = a[m][k] * b[n][k]
extern "C" __global__ void __launch_bounds__(160)
    matmul(const __grid_constant__ TensorMap a, const __grid_constant__ TensorMap b,
           const __grid_constant__ TensorMap out, int k) {
  extern __shared__ __align__(1024) char memory[];
  __shared__ uint64_t full[kStages], empty[kStages];
  char* const tiles_of_b = memory + kStages * kTileBytes;
  const int warp = threadIdx.x / 32, row = blockIdx.y * kTile, column = blockIdx.x * kTile,
            steps = (k + kTile - 1) / kTile;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(Shared(full + s)));
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(Shared(empty + s)));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (warp == 4) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    for (int i = 0; threadIdx.x == 128 && i < steps; ++i) {
      const int s = i % kStages;
      Await(empty + s, (i / kStages & 1) ^ 1);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(Shared(full + s)), "r"(2 * kTileBytes)
                   : "memory");
      LoadTile(memory + s * kTileBytes, a, i * kTile, row, full + s);
      LoadTile(tiles_of_b + s * kTileBytes, b, i * kTile, column, full + s);
    }
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  float d[32];
  for (float& sum : d) sum = 0;
  for (int i = 0; i < steps; ++i) {
    const int s = i % kStages;
    Await(full + s, i / kStages & 1);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    const uint64_t of_a = Describe(memory + s * kTileBytes), of_b = Describe(tiles_of_b + s * kTileBytes);
    for (int step = 0; step < kTile / 16; ++step) MultiplyTile(d, of_a + 2 * step, of_b + 2 * step, i + step);
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(Shared(empty + s)) : "memory");
  }
  // The first buffers take the result: no load is under way any more, and all warps have read theirs.
  asm volatile("bar.sync 1, 128;" ::: "memory");
  float* const tile = reinterpret_cast<float*>(memory);
  for (int i = 0; i < 32; ++i) {
    const int r = warp * 16 + threadIdx.x % 32 / 4 + i % 4 / 2 * 8, c = i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
    tile[r * kTile + c] = d[i];
  }
  asm volatile("fence.proxy.async.shared::cta;\nbar.sync 1, 128;" ::: "memory");
  if (threadIdx.x != 0) return;
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&out), "r"(column),
               "r"(row), "r"(Shared(tile))
               : "memory");
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}
