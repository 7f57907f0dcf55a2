// Ten more planted bugs, written from docs/emulator.md after the checks were; the page has the score as it came.
#include "support.h"

namespace kernpack::emulator {
namespace {

struct HeldOut {
  const char* name;
  const char* body;  // rd0 is an array of 64 words, rd20 is 4 * tid
  const char* says;
  Shape shape = {1, 32};
};

constexpr HeldOut kHeldOut[] = {
    {"OffByOneInTheLastBlock",
     "mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 32, %r0; setp.gt.u32 %p1, %r2, 64; @%p1 bra $e; mul.wide.u32 %rd3, "
     "%r2, "
     "4; add.s64 %rd3, %rd0, %rd3; st.global.u32 [%rd3], %r2; $e:",
     "block (2, 0, 0), thread (0, 0, 0), PTX line 11: st.global.u32 writes 4 bytes",
     {3, 32}},
    {"TreeOfSumsWithoutTheLastBarriers",
     ".shared .align 4 .b8 s[256]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], "
     "%r0; "
     "bar.sync 0; setp.ge.u32 %p1, %r0, 32; @%p1 bra $e; ld.shared.u32 %r3, [%r1+128]; ld.shared.u32 %r4, [%r1]; "
     "add.u32 "
     "%r4, %r4, %r3; st.shared.u32 [%r1], %r4; setp.ge.u32 %p1, %r0, 16; @%p1 bra $e; ld.shared.u32 %r3, [%r1+64]; "
     "add.u32 "
     "%r4, %r4, %r3; st.shared.u32 [%r1], %r4; $e:",
     "with no barrier in between",
     {1, 64}},
    {"RefillsAStageThatOthersRead",
     ".shared .align 4 .b8 s[256]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; xor.b32 %r2, %r2, 128; "
     "add.u32 %r4, %r1, %r2; mov.u32 %r5, 0; $l: st.shared.u32 [%r3], %r5; bar.sync 0; ld.shared.u32 %r6, [%r4]; "
     "add.u32 "
     "%r5, %r5, 1; setp.lt.u32 %p1, %r5, 4; @%p1 bra $l;",
     "with no barrier in between",
     {1, 64}},
    {"TooLittleDynamicSharedMemory",
     "mov.u32 %r1, tile; mad.lo.u32 %r1, %r0, 132, %r1; st.shared.u32 [%r1], %r0;",
     "thread (31, 0, 0), PTX line 11: st.shared.u32 writes 4 bytes at 0xffc: the block has 4092 bytes",
     {1, 32, 4092}},
    {"ShuffleAfterSomeLanesLeftTheLoop",
     "mov.u32 %r1, 0; $l: shfl.sync.down.b32 %r2, %r1, 1, 31, -1; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r0; @%p1 "
     "bra "
     "$l; bar.warp.sync -1;",
     "thread (",
     {1, 32}},
    {"BarrierInLoopsOfDifferentLengths",
     "shr.u32 %r1, %r0, 5; add.u32 %r1, %r1, 2; $l: bar.sync 0; sub.u32 %r1, %r1, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra "
     "$l; "
     "bar.sync 1;",
     "waits at barrier",
     {1, 64}},
    {"CounterReadWithoutABarrier",
     ".shared .align 4 .b8 s[4]; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [s], 0; bar.sync 0; red.shared.add.u32 "
     "[s], 1; "
     "@%p1 ld.shared.u32 %r1, [s];",
     "with no barrier in between",
     {1, 64}},
    {"HistogramThatWasNotCleared", ".shared .align 4 .b8 s[128]; mov.u32 %r1, s; red.shared.add.u32 [%r1+16], 1;",
     "of shared memory that nothing has written"},
    {"PairAtAnOddIndex", "ld.global.v2.f32 {%f1, %f2}, [%rd0+12];", "which is not a multiple of 8"},
    {"BarrierForAWarpAndAHalf", "bar.sync 1, 48;", "waits for 48 threads; expected a multiple of 32", {1, 64}},
};

class HeldOutBugs : public testing::TestWithParam<HeldOut> {};

TEST_P(HeldOutBugs, IsFound) {
  TestMemory memory;
  const uint64_t array = memory.Add(std::vector<uint32_t>(64, 1));
  const std::string said =
      RunText(Kernel(1, GetParam().body, ".extern .shared .align 16 .b8 tile[];\n"), memory, {array}, GetParam().shape);
  EXPECT_NE(said.find(GetParam().says), std::string::npos) << "it says: " << said;
}
INSTANTIATE_TEST_SUITE_P(Kernels, HeldOutBugs, testing::ValuesIn(kHeldOut),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace kernpack::emulator
