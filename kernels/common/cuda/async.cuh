// Copies from global to shared memory that go on beside other work (cp.async, sm_80 and newer). Each thread waits for its own.
#pragma once

#include <cstdint>

namespace kk_cuda {

__device__ inline uint32_t SharedAddress(const void* at) { return static_cast<uint32_t>(__cvta_generic_to_shared(at)); }

// 16 bytes to shared memory, or zeros.
__device__ inline void CopyChunk(void* to, const void* from, bool there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(SharedAddress(to)), "l"(from), "r"(there ? 16 : 0)
               : "memory");
}
__device__ inline void CommitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Until no more than the last `kLater` groups are under way.
template <int kLater = 0>
__device__ inline void WaitForCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLater) : "memory");
}

}  // namespace kk_cuda
