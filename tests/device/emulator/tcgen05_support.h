// Pieces of kernels with tensor memory: %p4 is set in warp 0 and %p5 in thread 0, %r41 is the word that alloc writes, %r42 the mbarrier,
// %r43 the address in tensor memory, %r45 that of the warp's lanes, %rd8 the thread's word of the result.
#ifndef KERNPACK_TESTS_DEVICE_EMULATOR_TCGEN05_SUPPORT_H_
#define KERNPACK_TESTS_DEVICE_EMULATOR_TCGEN05_SUPPORT_H_

#include <cstdint>
#include <string>

#include "support.h"

namespace kernpack::emulator {

inline const std::string kCommitTensor =
    "@%p5 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r42];\n";
inline std::string AwaitTensor(const std::string& parity = "0", const std::string& guard = "") {
  return "$wait: mbarrier.try_wait.parity.shared.b64 %p1, [%r42], " + parity + ";" +
         (guard.empty() ? " @!%p1 bra $wait;\n" : guard);
}
inline const std::string kReadSum = "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r50}, [%r45 + 3];\n";
inline const std::string kWaitForLoad = "tcgen05.wait::ld.sync.aligned;\n";
inline const std::string kShowSum = "st.global.b32 [%rd8], %r50;\n";
inline const std::string kFreeTensor = "@%p4 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r43, 64;\n";

// Copies an image of `bytes` bytes to the beginning of shared memory, and allocates all columns, whose address goes to `slot`, with the
// mbarrier behind it. %rd2 is the image. kMeetTensor comes next.
inline std::string LoadImage(uint64_t bytes, uint64_t slot) {
  return "mov.u32 %r5, 0;\n$copy: mad.lo.u32 %r6, %r5, 128, %r0; mul.wide.u32 %rd7, %r6, 4; add.u64 %rd8, %rd2, %rd7; "
         "ld.global.u32 %r7, [%rd8]; cvt.u32.u64 %r8, %rd7; st.shared.u32 [%r8], %r7; add.u32 %r5, %r5, 1; "
         "setp.lt.u32 %p1, %r5, " +
         std::to_string(bytes / 512) +
         "; @%p1 bra $copy;\nfence.proxy.async.shared::cta; setp.lt.u32 %p4, %r0, 32; setp.eq.u32 %p5, %r0, 0; "
         "mov.u32 %r41, " +
         std::to_string(slot) +
         "; add.u32 %r42, %r41, 8;\n@%p4 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r41], 512;\n";
}
inline const std::string kMeetTensor =
    "@%p5 mbarrier.init.shared.b64 [%r42], 1;\nbar.sync 0; ld.shared.u32 %r43, [%r41]; shr.u32 %r44, %r0, 5; shl.b32 "
    "%r44, %r44, 21; add.u32 %r45, %r43, %r44;\n";

// The kernel's text, run with 128 threads: "" where each result is `expected`.
inline std::string RunTensorKernel(const std::string& body, float expected) {
  TestMemory memory;
  const uint64_t out = memory.Room(512);
  const std::string said = RunText(Kernel(1, body), memory, {out}, {1, 128, 0, 20});
  if (said.empty()) {
    const auto found = memory.Read<float>(out, 128);
    for (const float of : found) EXPECT_EQ(of, expected);
  }
  return said;
}

}  // namespace kernpack::emulator

#endif  // KERNPACK_TESTS_DEVICE_EMULATOR_TCGEN05_SUPPORT_H_
