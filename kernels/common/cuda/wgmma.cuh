// Products of 16-bit matrices by the four warps of a group (wgmma, sm_90): they run while the group goes on, and read shared memory
// themselves, but for a factor that may be in registers. A warp of the group has 16 of the 64 rows; its lanes have sums as mma.cuh's do.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "async.cuh"

namespace kk_cuda {

// Numbers in a row of 128 bytes. Chunks of rows are exchanged as TileOffset<64> and tensor maps do it.
constexpr int kSwizzled = 64;
constexpr int kEightRows = 8 * kSwizzled * 2;  // bytes; tiles begin at multiples of them

// Before the first product that uses registers which this thread has written.
__device__ inline void BeginProducts() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void CommitProducts() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// Until no more than the last `kLater` groups of products are under way.
template <int kLater>
__device__ inline void WaitForProducts() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLater) : "memory");
}
// The compiler takes products to be done at once. So sums are pinned after WaitForProducts, to be read no sooner, and so are all the
// registers of products before BeginProducts, to be written no later.
template <int kN>
__device__ inline void Pin(float (&sums)[kN][4]) {
#pragma unroll
  for (int i = 0; i < kN * 4; ++i) asm volatile("" : "+f"(sums[i / 4][i % 4])::"memory");
}
template <int kN>
__device__ inline void Pin(uint32_t (&numbers)[kN][4]) {
#pragma unroll
  for (int i = 0; i < kN * 4; ++i) asm volatile("" : "+r"(numbers[i / 4][i % 4])::"memory");
}

// A tile of rows of 64 numbers, of which products need 16 at once. Descriptors count in units of 16 bytes: bits 0 to 13 the address, 16
// to 29 from 64 columns to the next, 32 to 45 from eight rows to the next, 62 and 63 the swizzle.
__device__ inline uint64_t Describe(const void* tile, int column_bytes) {
  return uint64_t{(SharedAddress(tile) & 0x3ffff) >> 4} | uint64_t(column_bytes >> 4) << 16 |
         uint64_t{kEightRows >> 4} << 32 | uint64_t{1} << 62;
}
// The tile from 16 columns on, within 64, and from `count` rows on, a multiple of 8.
constexpr uint64_t kSixteenColumns = 16 * 2 >> 4;
__device__ constexpr uint64_t RowsOn(int count) { return static_cast<uint64_t>(count / 8 * kEightRows >> 4); }

#define KK_SUMS_4(i) "+f"(sums[i][0]), "+f"(sums[i][1]), "+f"(sums[i][2]), "+f"(sums[i][3])
#define KK_SUMS_16(i) KK_SUMS_4(i), KK_SUMS_4(i + 1), KK_SUMS_4(i + 2), KK_SUMS_4(i + 3)
#define KK_SUMS_32(i) KK_SUMS_16(i), KK_SUMS_16(i + 4)
#define KK_SUMS_64(i) KK_SUMS_32(i), KK_SUMS_32(i + 8)
#define KK_OPERANDS_16 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define KK_OPERANDS_32 KK_OPERANDS_16 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define KK_OPERANDS_64                                                                                               \
  KK_OPERANDS_32                                                                                                     \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, " \
  "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
// `count` sums of a lane, n columns; a_at, b_at and add_at: the operands' numbers, which follow those of the sums.
#define KK_OF_SHARED(types, n, count, a_at, b_at, add_at, transposed)                                           \
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, " add_at ", 0;\nwgmma.mma_async.sync.aligned.m64n" n       \
               "k16.f32." types " {" KK_OPERANDS_##count "}, " a_at ", " b_at ", add, 1, 1, " transposed ";\n}" \
               : KK_SUMS_##count(0)                                                                             \
               : "l"(a), "l"(b), "r"(static_cast<int>(add)))
#define KK_OF_REGISTERS(types, n, count, a_at, b_at, add_at, transposed)                                          \
  asm volatile("{\n.reg .pred add;\nsetp.ne.b32 add, " add_at ", 0;\nwgmma.mma_async.sync.aligned.m64n" n         \
               "k16.f32." types " {" KK_OPERANDS_##count "}, {" a_at "}, " b_at ", add, 1, 1, " transposed ";\n}" \
               : KK_SUMS_##count(0)                                                                               \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)))
#define KK_OF_TYPE(product, ...)             \
  if constexpr (std::is_same_v<T, __half>) { \
    product("f16.f16", __VA_ARGS__);         \
  } else {                                   \
    product("bf16.bf16", __VA_ARGS__);       \
  }

// sums[64, n] = or += a[64, 16] times the transpose of b[n, 16].
template <class T>
__device__ inline void GroupDots(float (&sums)[8][4], uint64_t a, uint64_t b, bool add) {
  KK_OF_TYPE(KK_OF_SHARED, "64", 32, "%32", "%33", "%34", "0, 0")
}
template <class T>
__device__ inline void GroupDots(float (&sums)[16][4], uint64_t a, uint64_t b, bool add) {
  KK_OF_TYPE(KK_OF_SHARED, "128", 64, "%64", "%65", "%66", "0, 0")
}

// sums[64, n] = or += a[64, 16] times the transpose of b[n, 16]; a lane has of `a` what mma's do.
template <class T>
__device__ inline void GroupDots(float (&sums)[8][4], const uint32_t (&a)[4], uint64_t b, bool add) {
  KK_OF_TYPE(KK_OF_REGISTERS, "64", 32, "%32, %33, %34, %35", "%36", "%37", "0")
}
template <class T>
__device__ inline void GroupDots(float (&sums)[16][4], const uint32_t (&a)[4], uint64_t b, bool add) {
  KK_OF_TYPE(KK_OF_REGISTERS, "128", 64, "%64, %65, %66, %67", "%68", "%69", "0")
}

// sums[64, n] += a[64, 16] times b[16, n]; `a` as above.
template <class T>
__device__ inline void GroupAdd(float (&sums)[8][4], const uint32_t (&a)[4], uint64_t b) {
  constexpr bool add = true;
  KK_OF_TYPE(KK_OF_REGISTERS, "64", 32, "%32, %33, %34, %35", "%36", "%37", "1")
}
template <class T>
__device__ inline void GroupAdd(float (&sums)[16][4], const uint32_t (&a)[4], uint64_t b) {
  constexpr bool add = true;
  KK_OF_TYPE(KK_OF_REGISTERS, "128", 64, "%64, %65, %66, %67", "%68", "%69", "1")
}

// sums[64, n] = or += the transpose of a[16, 64] times b[16, n].
template <class T>
__device__ inline void GroupAcross(float (&sums)[4][4], uint64_t a, uint64_t b, bool add) {
  KK_OF_TYPE(KK_OF_SHARED, "32", 16, "%16", "%17", "%18", "1, 1")
}
template <class T>
__device__ inline void GroupAcross(float (&sums)[8][4], uint64_t a, uint64_t b, bool add) {
  KK_OF_TYPE(KK_OF_SHARED, "64", 32, "%32", "%33", "%34", "1, 1")
}

}  // namespace kk_cuda
