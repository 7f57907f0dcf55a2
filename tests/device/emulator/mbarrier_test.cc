// mbarriers: phases, tokens and parities, what they order, and what is wrong with their use.
#include "support.h"

namespace kernpack::emulator {
namespace {

constexpr Shape kTwoWarps{1, 64};

// %r1 is the warp, %r2 the lane, %r3 and %r4 the mbarriers `full` and `empty` of `count` arrivals each, %r5 the thread's word of s.
std::string WithBarriers(int parameters, int count, const std::string& body) {
  const std::string arrivals = std::to_string(count);
  return Kernel(
      parameters,
      ".shared .align 8 .b64 full; .shared .align 8 .b64 empty; .shared .align 16 .b32 s[64]; shr.u32 %r1, %r0, 5; "
      "and.b32 %r2, %r0, 31; mov.u32 %r3, full; mov.u32 %r4, empty; mul.lo.u32 %r5, %r0, 4; mov.u32 %r6, s; add.u32 "
      "%r5, %r5, %r6; mul.lo.u32 %r7, %r2, 4; add.u32 %r7, %r7, %r6; setp.ne.u32 %p9, %r1, 0; setp.ne.u32 %p8, %r0, 0; "
      "@%p8 bra $made; mbarrier.init.shared.b64 [full], " +
          arrivals + "; mbarrier.init.shared::cta.b64 [%r4], " + arrivals + "; $made: bar.sync 0;\n" + body);
}
std::string Wait(const std::string& barrier, const std::string& parity, const std::string& label) {
  return label + ": mbarrier.try_wait.parity.shared::cta.b64 %p1, [" + barrier + "], " + parity + "; @!%p1 bra " +
         label + ";\n";
}
std::string RunBody(const std::string& body, int count = 32) {
  TestMemory memory;
  const uint64_t out = memory.Room(4 * 64);
  return RunText(WithBarriers(1, count, body), memory, {out}, kTwoWarps);
}

// The first warp writes, the second sums: a ring of one buffer, used six times.
TEST(MBarriers, APipelineOfTwoWarps) {
  TestMemory memory;
  const uint64_t out = memory.Room(4 * 64);
  const std::string body =
      "mov.u32 %r10, 0; mov.u32 %r20, 0; @%p9 bra $consume;\n$produce: and.b32 %r11, %r10, 1; xor.b32 %r12, %r11, "
      "1;\n" +
      Wait("%r4", "%r12", "$free") +
      "mad.lo.u32 %r13, %r10, 100, %r2; st.shared.u32 [%r7], %r13; mbarrier.arrive.shared.b64 _, [%r3]; add.u32 %r10, "
      "%r10, 1; setp.lt.u32 %p2, %r10, 6; @%p2 bra $produce; bra $end;\n$consume: and.b32 %r11, %r10, 1;\n" +
      Wait("full", "%r11", "$there") +
      "ld.shared.u32 %r13, [%r7]; add.u32 %r20, %r20, %r13; mbarrier.arrive.release.cta.shared::cta.b64 %rd9, [empty]; "
      "add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 6; @%p2 bra $consume;\n$end: add.s64 %rd5, %rd0, %rd20; "
      "st.global.u32 [%rd5], %r20;";
  ASSERT_EQ(RunText(WithBarriers(1, 32, body), memory, {out}, kTwoWarps), "");
  const auto found = memory.Read<uint32_t>(out, 64);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(found[i], i < 32 ? 0 : 1500 + 6 * (i - 32)) << i;
}

// All threads meet by tokens; those of the second warp leave after the first phase.
TEST(MBarriers, TokensAndThreadsThatDropOut) {
  TestMemory memory;
  const uint64_t out = memory.Room(4 * 64);
  const std::string body =
      "st.shared.u32 [%r5], %r0; @%p9 mbarrier.arrive_drop.shared.b64 %rd5, [full]; @!%p9 mbarrier.arrive.shared.b64 "
      "%rd5, [full];\n$first: mbarrier.test_wait.shared.b64 %p1, [full], %rd5; @!%p1 bra $first; xor.b32 %r10, %r0, "
      "63; "
      "mul.lo.u32 %r10, %r10, 4; add.u32 %r10, %r10, %r6; ld.shared.u32 %r20, [%r10]; @%p9 bra $end;\n"
      "mbarrier.arrive.noComplete.shared.b64 %rd6, [full], 1;\n$second: mbarrier.test_wait.acquire.cta.shared.b64 %p1, "
      "[full], %rd6; @!%p1 bra $second; mbarrier.pending_count.b64 %r11, %rd6; add.u32 %r20, %r20, 1000; sub.u32 %r11, "
      "32, %r11; setp.ne.u32 %p3, %r11, %r2; @%p3 trap;\n$end: add.s64 %rd5, %rd0, %rd20; st.global.u32 [%rd5], %r20;";
  ASSERT_EQ(RunText(WithBarriers(1, 64, body), memory, {out}, kTwoWarps), "");
  const auto found = memory.Read<uint32_t>(out, 64);
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(found[i], 63 - i + (i < 32 ? 1000 : 0)) << i;
}

TEST(MBarriers, CopiesArriveWithTheirThreads) {
  std::vector<uint32_t> input(32);
  for (uint32_t i = 0; i < 32; ++i) input[i] = 7 * i;
  for (const char* arrival :
       {"cp.async.mbarrier.arrive.noinc.shared.b64 [full];",
        "cp.async.mbarrier.arrive.shared::cta.b64 [%r3]; mbarrier.arrive.shared.b64 _, [full];"}) {
    TestMemory memory;
    const uint64_t out = memory.Room(4 * 64), in = memory.Add(input);
    const std::string body = "add.s64 %rd5, %rd1, %rd20; @%p9 bra $wait; cp.async.ca.shared.global [%r5], [%rd5], 4; " +
                             std::string(arrival) + "bra $end;\n" + Wait("full", "0", "$wait") +
                             "ld.shared.u32 %r20, [%r7]; add.s64 %rd5, %rd0, %rd20; st.global.u32 [%rd5], %r20;\n$end:";
    ASSERT_EQ(RunText(WithBarriers(2, 32, body), memory, {out, in}, kTwoWarps), "") << arrival;
    EXPECT_EQ(memory.Read<uint32_t>(out + 128, 32), input);
  }
}

// With nobody left to arrive, the phase that the last arrival ended stays the last.
TEST(MBarriers, AreOverOnceAllHaveDroppedOut) {
  EXPECT_EQ(
      RunBody("@%p9 bra $end; mbarrier.arrive_drop.shared.b64 %rd5, [full]; mov.u32 %r10, 0;\n$again: "
              "mbarrier.test_wait.shared.b64 %p1, [full], %rd5; @!%p1 bra $again; add.u32 %r10, %r10, 1; setp.lt.u32 "
              "%p2, %r10, 5; @%p2 bra $again;\n$end:"),
      "");
}

TEST(MBarriers, BytesThatAreExpectedHoldThePhase) {
  EXPECT_EQ(
      RunBody(
          "@%p8 bra $wait; mbarrier.arrive.expect_tx.shared.b64 _, [full], 64; mbarrier.test_wait.parity.shared.b64 "
          "%p2, [full], 0; @%p2 trap; mbarrier.complete_tx.shared::cta.relaxed.cta.b64 [full], 48; "
          "mbarrier.test_wait.parity.shared.b64 %p2, [full], 0; @%p2 trap; "
          "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [full], 16;\n" +
              Wait("full", "0", "$wait"),
          1),
      "");
}

// Each block of a cluster arrives at the next one's.
TEST(MBarriers, ArrivalsFromOtherBlocksOfACluster) {
  TestMemory memory;
  const std::string body =
      "setp.ne.u32 %p2, %r0, 0; mov.u32 %r8, %cluster_ctarank; xor.b32 %r8, %r8, 1; mapa.shared::cluster.u32 %r9, "
      "full, "
      "%r8; barrier.cluster.arrive; barrier.cluster.wait; @!%p2 mbarrier.arrive.release.cluster.shared::cluster.b64 _, "
      "[%r9];\n$wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [full], 0; @!%p1 bra $wait; "
      "barrier.cluster.arrive; barrier.cluster.wait;";
  EXPECT_EQ(RunText(WithBarriers(0, 1, body), memory, {}, {4, 64, 0, 20, 0, 2}), "");
}

class MBarrierBugs : public testing::TestWithParam<Mistake> {};
TEST_P(MBarrierBugs, AreFound) {
  const std::string said = RunBody(GetParam().body);
  EXPECT_NE(said.find(GetParam().said), std::string::npos) << said;
}
#define KP_WAIT "$wait: mbarrier.test_wait.parity.shared.b64 %p1, [full], 0; @!%p1 bra $wait; "
INSTANTIATE_TEST_SUITE_P(
    Kernels, MBarrierBugs,
    testing::Values(
        Mistake{"NeverMade", "mbarrier.arrive.shared.b64 _, [s];",
                "isn't an mbarrier: no mbarrier.init made one there"},
        Mistake{"Invalidated",
                "@!%p8 mbarrier.inval.shared.b64 [full]; bar.sync 0; mbarrier.arrive.shared.b64 _, [full];",
                "or it has been invalidated"},
        Mistake{"UsedWhileItIsMade",
                "@!%p8 mbarrier.inval.shared.b64 [full]; @!%p8 mbarrier.init.shared.b64 [full], 64; "
                "mbarrier.arrive.shared.b64 "
                "_, [full];",
                "with no barrier in between"},
        Mistake{"MadeTwice", "@!%p8 mbarrier.init.shared.b64 [full], 1;", "makes an mbarrier where there is one"},
        Mistake{"NoArrivals", "@!%p8 mbarrier.init.shared.b64 [s], 0;", "expects 0 arrivals"},
        Mistake{"TooManyArrivals", "@!%p8 mbarrier.arrive.shared.b64 _, [full], 33;", "the phase expects 32 more"},
        Mistake{
            "ReadsWithoutWaiting",
            "@!%p9 st.shared.u32 [%r7], 1; @!%p9 mbarrier.arrive.shared.b64 _, [full]; @%p9 ld.shared.u32 %r10, [%r7];",
            "with no barrier in between"},
        Mistake{"RelaxedArrival",
                "@!%p9 st.shared.u32 [%r7], 1; @!%p9 mbarrier.arrive.relaxed.cta.shared.b64 _, [full]; " KP_WAIT
                "@%p9 ld.shared.u32 %r10, [%r7];",
                "with no barrier in between"},
        Mistake{"WrittenAgainBeforeItWasRead",
                "@!%p9 st.shared.u32 [%r7], 1; @!%p9 mbarrier.arrive.shared.b64 _, [full]; " KP_WAIT
                "@%p9 ld.shared.u32 %r10, [%r7]; @!%p9 st.shared.u32 [%r7], 2;",
                "with no barrier in between"},
        Mistake{"OldToken",
                "@%p9 bra $end; mbarrier.arrive.shared.b64 %rd5, [full]; mbarrier.arrive.shared.b64 _, [full]; "
                "mbarrier.test_wait.shared.b64 %p1, [full], %rd5;\n$end:",
                "has a token of phase 0, and phase 2 is under way"},
        Mistake{"NotShared", "mbarrier.arrive.b64 _, [%rd0];", "has an address outside of shared memory"},
        Mistake{"Misaligned", "mbarrier.arrive.shared.b64 _, [full+4];", "not a multiple of 8"}),
    GetName);

// Nobody is left to arrive: it's said at once, not when the kernel's time is over.
TEST(MBarriers, OneThatNeverOpensIsADeadlock) {
  TestMemory memory;
  const std::string said = RunText(
      WithBarriers(0, 65, "mbarrier.arrive.shared.b64 _, [full];\n" + Wait("full", "0", "$wait")), memory, {}, {1, 64});
  EXPECT_NE(
      said.find("waits for a phase that never ends (it asked for parity 0): the mbarrier at 0x0 of shared memory is in "
                "phase 0, of parity 0, which still needs 1 arrivals"),
      std::string::npos)
      << said;
  EXPECT_NE(said.find("warps 0 to 1 wait at PTX line"), std::string::npos) << said;
}

TEST(MBarriers, BytesThatNeverComeAreADeadlock) {
  const std::string said = RunBody(
      "@%p8 bra $wait; mbarrier.arrive.expect_tx.shared.b64 _, [full], 64; "
      "mbarrier.complete_tx.shared::cta.relaxed.cta.b64 "
      "[full], 48;\n" +
          Wait("full", "0", "$wait"),
      1);
  EXPECT_NE(said.find("still needs 0 arrivals and 16 bytes of copies"), std::string::npos) << said;
}

// Each of two roles waits for the other; a third waits for both at a barrier.
TEST(MBarriers, RolesThatWaitForEachOtherAreNamed) {
  TestMemory memory;
  const std::string body =
      "shr.u32 %r8, %r0, 5; setp.eq.u32 %p4, %r8, 0; setp.eq.u32 %p5, %r8, 1; @%p4 bra $one; @%p5 bra $two; bar.sync "
      "1, 96; "
      "exit;\n$one: mbarrier.try_wait.parity.shared.b64 %p1, [full], 0; @!%p1 bra $one; bar.sync 1, 96; exit;\n"
      "$two: mbarrier.try_wait.parity.shared.b64 %p1, [full], 0; @!%p1 bra $two; mbarrier.arrive.shared.b64 _, [full]; "
      "exit;";
  const std::string said = RunText(WithBarriers(0, 1, body), memory, {}, {1, 96});
  EXPECT_NE(said.find("warp 0 waits"), std::string::npos) << said;
  EXPECT_NE(said.find("warp 1 waits"), std::string::npos) << said;
  EXPECT_NE(said.find("(bar.sync)"), std::string::npos) << said;
}

// A loop that looks at the clock gives up by itself.
TEST(MBarriers, AWaitWithATimeLimitIsNoDeadlock) {
  EXPECT_EQ(
      RunBody(
          "mov.u64 %rd5, %globaltimer;\n$wait: mbarrier.try_wait.parity.shared.b64 %p1, [full], 0; @%p1 trap; mov.u64 "
          "%rd6, %globaltimer; sub.u64 %rd6, %rd6, %rd5; setp.lt.u64 %p2, %rd6, 50000000; @%p2 bra $wait;",
          65),
      "");
}

}  // namespace
}  // namespace kernpack::emulator
