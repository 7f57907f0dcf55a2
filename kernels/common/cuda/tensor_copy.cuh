// Copies of boxes of a tensor into shared memory by the tensor memory accelerator, and the barriers that they end on (sm_90).
#pragma once

#include <cstdint>

#include "async.cuh"

namespace kk_cuda {

// A CUtensorMap, which the host passes as a __grid_constant__ parameter: instructions take its address.
struct alignas(64) TensorMap {
  char bytes[128];
};

// A phase ends after `arrivals` arrivals and the bytes that it expects.
__device__ inline void InitBarrier(uint64_t* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SharedAddress(barrier)), "r"(arrivals) : "memory");
}
// After InitBarrier, before the block's barrier: the accelerator sees what was initialised.
__device__ inline void PublishBarriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ inline void Arrive(uint64_t* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(SharedAddress(barrier)) : "memory");
}
__device__ inline void ArriveExpecting(uint64_t* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(SharedAddress(barrier)), "r"(bytes)
               : "memory");
}
// Until the phase of this parity has ended. Of a new barrier, the phase of parity 1 has.
__device__ inline void Await(uint64_t* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\n$again_%=:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n@!done bra "
      "$again_%=;\n}" ::"r"(SharedAddress(barrier)),
      "r"(parity)
      : "memory");
}

__device__ inline void PrefetchMap(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}
// A box of four dimensions, the innermost first; zeros for what lies outside of the tensor. All its bytes count.
__device__ inline void CopyBox(void* to, const TensorMap& map, int x, int y, int z, int w, uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], "
      "[%6];" ::"r"(SharedAddress(to)),
      "l"(&map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(SharedAddress(barrier))
      : "memory");
}

// Bytes that lie beside each other; their number and both addresses are multiples of 16.
__device__ inline void CopyBytes(void* to, const void* from, int bytes, uint64_t* barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   SharedAddress(to)),
               "l"(from), "r"(bytes), "r"(SharedAddress(barrier))
               : "memory");
}

// After this thread's ordinary writes to shared memory, before a barrier: later reads by wgmma and by copies see the writes.
__device__ inline void PublishWrites() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// kBytes of shared memory to global memory, or added to floats there, which are done when it returns. One thread, and the writes to shared
// memory have been published.
template <int kBytes>
__device__ inline void CopyOut(float* to, const float* from, bool add) {
  asm volatile("fence.proxy.async;" ::: "memory");  // what other blocks have added there is seen
  if (add) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to),
                 "r"(SharedAddress(from)), "n"(kBytes)
                 : "memory");
  } else {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(SharedAddress(from)),
                 "n"(kBytes)
                 : "memory");
  }
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\nfence.proxy.async;" ::: "memory");
}

// A number by which blocks tell each other what they have written to global memory.
__device__ inline int LoadAcquired(const unsigned* from) {
  int number;
  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(number) : "l"(from) : "memory");
  return number;
}
__device__ inline void StoreReleased(unsigned* to, int number) {
  asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(number) : "memory");
}

// A barrier of `threads` threads of the block. 0 is __syncthreads().
__device__ inline void SyncSome(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// How many registers each thread of a group of four warps has from here on.
template <int kCount>
__device__ inline void GiveRegistersBack() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kCount));
}
template <int kCount>
__device__ inline void TakeRegisters() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kCount));
}

}  // namespace kk_cuda
