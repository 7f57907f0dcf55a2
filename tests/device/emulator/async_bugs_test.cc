// Planted bugs of wgmma and of the copies that bring its operands, and the kernel without them.
#include "exec/tensor_map.h"
#include "support.h"

namespace kernpack::emulator {
namespace {

// A of 64 x 16 and B of 16 x 8 f16 are at the beginning of s, without a swizzle, and have the descriptors %rd4 and %rd5. %p8: not the
// first thread. %rd1 is a tensor map of B's 256 bytes, %rd8 the thread's word of the result.
std::string WithProduct(const std::string& body) {
  return Kernel(
      2,
      ".shared .align 1024 .b8 s[4096]; .shared .align 8 .b64 full; .shared .align 8 .b64 empty; setp.ne.u32 %p8, %r0, "
      "0; shr.u32 %r1, %r0, 5; mov.u64 %rd4, 0x1000080000; mov.u64 %rd5, 0x1000080080; add.s64 %rd8, %rd0, %rd20; "
      "@!%p8 mbarrier.init.shared.b64 [full], 1; @!%p8 mbarrier.init.shared.b64 [empty], 1; "
      "fence.mbarrier_init.release.cluster; bar.sync 0;\n" +
          body);
}
const std::string kFillOperands =
    "mov.u32 %r5, 0;\n$fill: mul.lo.u32 %r6, %r5, 512; mad.lo.u32 %r6, %r0, 4, %r6; st.shared.u32 [%r6], 0x3c003c00; "
    "add.u32 "
    "%r5, %r5, 1; setp.lt.u32 %p1, %r5, 5; @%p1 bra $fill;\n";
const std::string kOverProxies = "fence.proxy.async.shared::cta;\n", kBlockMeets = "bar.sync 0;\n";
const std::string kZero = "mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;\n";
const std::string kGroupFence = "wgmma.fence.sync.aligned;\n", kCommit = "wgmma.commit_group.sync.aligned;\n",
                  kWaitForGroup = "wgmma.wait_group.sync.aligned 0;\n", kUseSum = "st.global.f32 [%rd8], %f1;\n";
std::string Multiply(const std::string& a = "%rd4", const std::string& b = "%rd5", const std::string& keeps = "1") {
  const std::string of_a = a[0] == '{' ? "" : "0, ";
  return "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, " + a + ", " + b + ", " + keeps +
         ", 1, 1, " + of_a + "0;\n";
}
const std::string kReady = kFillOperands + kOverProxies + kBlockMeets + kZero + kGroupFence;

std::string RunProduct(const std::string& body, uint32_t threads = 128) {
  TestMemory memory;
  const std::vector<uint16_t> b(128, 0x3c00);
  const uint64_t out = memory.Room(4 * 256), of_b = memory.Add(b);
  TensorMap map{};
  map.address = of_b;
  map.element = 6;
  map.dims[0] = map.boxes[0] = 128;
  map.steps[0] = 1;
  map.magic = TensorMap::kMagic;
  const uint64_t of_map = memory.Add(std::vector<TensorMap>{map});
  const std::string said = RunText(WithProduct(body), memory, {out, of_map}, {1, threads, 0, 20});
  if (said.empty()) {
    EXPECT_EQ(memory.Read<float>(out, 1)[0], 16);
  }
  return said;
}

TEST(AsyncKernels, AProductThatIsWaitedFor) {
  EXPECT_EQ(RunProduct(kReady + Multiply() + kCommit + kWaitForGroup + kUseSum), "");
}
// Registers in flight may be copied, and products follow each other without a fence.
TEST(AsyncKernels, ProductsInARow) {
  EXPECT_EQ(RunProduct(kReady + Multiply("%rd4", "%rd5", "0") + kCommit + Multiply("%rd4", "%rd5", "0") + kCommit +
                       "mov.f32 %f7, %f1; wgmma.wait_group.sync.aligned 0; st.global.f32 [%rd8], %f7;\n"),
            "");
}

const std::string kLoad =
    "mbarrier.arrive.expect_tx.shared.b64 _, [full], 256; "
    "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [s+2048], [%rd1, {0}], [full];\n";
std::string Await(const std::string& barrier, const std::string& parity, const std::string& label) {
  return label + ": mbarrier.try_wait.parity.shared.b64 %p1, [" + barrier + "], " + parity + "; @!%p1 bra " + label +
         ";\n";
}
// Warps 0 to 3 multiply, warp 4 loads B six times into one buffer.
std::string Roles(const std::string& consumer_parity = "%r11", const std::string& producer_parity = "%r12",
                  const std::string& load = kLoad, const std::string& before_release = kWaitForGroup) {
  return "setp.eq.u32 %p6, %r1, 4; @%p6 bra $produce;\nsetmaxnreg.inc.sync.aligned.u32 240;\n" + kFillOperands +
         kOverProxies + "bar.sync 1, 128;\n" + kZero + "mov.u32 %r10, 0;\n$consume: and.b32 %r11, %r10, 1;\n" +
         Await("full", consumer_parity, "$there") + kGroupFence + Multiply("%rd4", "%rd5", "0") + kCommit +
         before_release +
         "@!%p8 mbarrier.arrive.shared.b64 _, [empty]; add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 6; @%p2 bra "
         "$consume;\n" +
         kWaitForGroup + kUseSum +
         "bra $end;\n$produce: setmaxnreg.dec.sync.aligned.u32 24; elect.sync _|%p5, 0xffffffff; @!%p5 bra $end; "
         "mov.u32 %r10, 0;\n"
         "$again: and.b32 %r11, %r10, 1; xor.b32 %r12, %r11, 1;\n" +
         Await("empty", producer_parity, "$free") + load +
         "add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 6; @%p2 bra $again;\n$end:\n";
}
// The fill of B would race with the first load: it's left to the loads.
std::string OnlyA(std::string text) {
  const std::string all = "setp.lt.u32 %p1, %r5, 5;";
  return text.replace(text.find(all), all.size(), "setp.lt.u32 %p1, %r5, 4;");
}
TEST(AsyncKernels, SpecialisedWarps) { EXPECT_EQ(RunProduct(OnlyA(Roles()), 160), ""); }

// Two stages of A: the group before the last one is waited for, and a warp other than the first gives its stage back.
TEST(AsyncKernels, AStageThatAnotherWarpGivesBack) {
  std::string fill = kFillOperands, load = kLoad;
  fill.replace(fill.find(", 5; @%p1"), 3, ", 8");
  load.replace(load.find("[s+2048]"), 8, "[s]");
  const std::string body = "setp.eq.u32 %p6, %r1, 4; @%p6 bra $produce;\nsetp.ne.u32 %p7, %r0, 96;\n" + fill +
                           kOverProxies + "bar.sync 1, 128;\n" + kZero + kGroupFence + Multiply("%rd4", "%rd5", "0") +
                           kCommit + Multiply("%rd5", "%rd5", "0") + kCommit + "wgmma.wait_group.sync.aligned 1;\n" +
                           "@!%p7 mbarrier.arrive.shared.b64 _, [empty];\n" + kWaitForGroup + kUseSum +
                           "bra $end;\n$produce: elect.sync _|%p5, 0xffffffff; @!%p5 bra $end;\n" +
                           Await("empty", "0", "$free") + load + Await("full", "0", "$landed") + "$end:\n";
  EXPECT_EQ(RunProduct(body, 160), "");
}

class AsyncBugs : public testing::TestWithParam<Mistake> {};
TEST_P(AsyncBugs, AreFound) {
  const bool roles = GetParam().body.find("$produce") != std::string::npos;
  const std::string said = RunProduct(roles ? OnlyA(GetParam().body) : GetParam().body, roles ? 160 : 128);
  EXPECT_NE(said.find(GetParam().said), std::string::npos) << said;
}
INSTANTIATE_TEST_SUITE_P(
    Kernels, AsyncBugs,
    testing::Values(
        Mistake{"NoProxyFence",
                kFillOperands + kBlockMeets + kZero + kGroupFence + Multiply() + kCommit + kWaitForGroup + kUseSum,
                "with no fence.proxy.async in between"},
        Mistake{"ProxyFenceBeforeTheWrites",
                kOverProxies + kFillOperands + kBlockMeets + kZero + kGroupFence + Multiply() + kCommit +
                    kWaitForGroup + kUseSum,
                "with no fence.proxy.async in between"},
        Mistake{"NoBarrier",
                kFillOperands + kOverProxies + kZero + kGroupFence + Multiply() + kCommit + kWaitForGroup + kUseSum,
                "with no barrier in between"},
        Mistake{"NoGroupFence",
                kFillOperands + kOverProxies + kBlockMeets + kZero + Multiply() + kCommit + kWaitForGroup + kUseSum,
                "needs a wgmma.fence before the first wgmma.mma_async"},
        Mistake{"WrittenAfterTheGroupFence",
                kReady + "add.f32 %f3, %f3, %f3;\n" + Multiply() + kCommit + kWaitForGroup + kUseSum,
                "uses a register of D that was written after the last wgmma.fence"},
        Mistake{"ZeroedAgainWithoutAGroupFence",
                kReady + Multiply() + kCommit + kWaitForGroup + kUseSum + kZero + Multiply() + kCommit + kWaitForGroup +
                    kUseSum,
                "uses a register of D that was written after the last wgmma.fence"},
        Mistake{"NoWait", kReady + Multiply() + kCommit + kUseSum, "reads a register that wgmma at PTX line"},
        Mistake{"NoCommit", kReady + Multiply() + kWaitForGroup + kUseSum, "reads a register that wgmma at PTX line"},
        Mistake{"WaitsForOneGroupTooFew",
                kReady + Multiply() + kCommit + "wgmma.wait_group.sync.aligned 1;\n" + kUseSum,
                "reads a register that wgmma at PTX line"},
        Mistake{"UseOfACopyInFlight", kReady + Multiply() + kCommit + "mov.f32 %f7, %f1; add.f32 %f8, %f7, %f7;",
                "reads a register that wgmma at PTX line"},
        Mistake{"SumOverwritten", kReady + Multiply() + kCommit + "mov.f32 %f2, 0f00000000;\n" + kWaitForGroup,
                "writes a register that wgmma at PTX line"},
        Mistake{"FactorOverwritten",
                kFillOperands + kOverProxies + kBlockMeets + kZero +
                    "mov.u32 %r20, 0; mov.u32 %r21, 0; mov.u32 %r22, 0; mov.u32 %r23, 0;\n" + kGroupFence +
                    Multiply("{%r20, %r21, %r22, %r23}") + kCommit + "add.u32 %r21, %r21, 1;\n" + kWaitForGroup,
                "writes a register that wgmma at PTX line"},
        Mistake{"OperandOverwritten",
                kReady + Multiply() + kCommit + "@!%p8 st.shared.u32 [s+2052], 0;\n" + kWaitForGroup + kUseSum,
                // Warp 0 writes before the last warp has issued the product.
                "with no barrier in between"},
        Mistake{"OperandOverwrittenByTheLastWarp",
                kReady + Multiply() + kCommit + "setp.eq.u32 %p3, %r0, 96; @%p3 st.shared.u32 [s+2052], 0;\n" +
                    kWaitForGroup + kUseSum,
                "may still be reading: wgmma.wait_group has to come first"},
        Mistake{"OperandLoadedAgain",
                kReady + Multiply() + kCommit + "setp.eq.u32 %p3, %r0, 96; @!%p3 bra $loaded;\n" + kLoad +
                    "$loaded:" + kWaitForGroup + kUseSum,
                "may still be reading: wgmma.wait_group has to come first"},
        Mistake{"ThreeWarps",
                kReady + "setp.eq.u32 %p3, %r1, 3; @%p3 bra $skip;\n" + Multiply() + kCommit + kWaitForGroup + kUseSum +
                    "$skip: bar.sync 0;",
                "waits for a product that other warps of the warpgroup have yet to issue"},
        Mistake{"AWarpHasEnded",
                kReady + "setp.eq.u32 %p3, %r1, 0; @%p3 exit;\n" + Multiply() + kCommit + kWaitForGroup + kUseSum,
                "and warp 0 has threads that have ended"},
        Mistake{"HalfAWarp", kReady + "setp.gt.u32 %p3, %r0, 15; @%p3 bra $skip;\n" + Multiply() + "$skip:",
                "needs all 32 lanes of the warp"},
        Mistake{"OtherDescriptors",
                kReady + "setp.eq.u32 %p3, %r1, 2; @%p3 mov.u64 %rd5, 0x1000080000;\n" + Multiply() + kCommit +
                    kWaitForGroup + kUseSum,
                "all four have to issue the same"},
        Mistake{"DescriptorsOfThreadsDiffer", kReady + "@!%p8 mov.u64 %rd5, 0x1000080000;\n" + Multiply(),
                "all threads have to give the same"},
        Mistake{"BeyondSharedMemory", kReady + "mov.u64 %rd5, 0x1000083ff0;\n" + Multiply() + kCommit + kWaitForGroup,
                "bytes of shared memory"},
        Mistake{"GarbageDescriptor", kReady + "mov.u64 %rd5, 0x5a5a5a5a5a5a5a5a;\n" + Multiply(), "with a base offset"},
        Mistake{"UnwrittenOperand",
                kFillOperands + kOverProxies + kBlockMeets + kZero + kGroupFence + "mov.u64 %rd5, 0x10000800c0;\n" +
                    Multiply() + kCommit + kWaitForGroup + kUseSum,
                "made from shared memory that nothing has written"},
        Mistake{"ConsumerWaitsForTheOtherParity", Roles("%r12"), "with no barrier in between"},
        Mistake{"ProducerWaitsForTheOtherParity", Roles("%r11", "%r11"),
                "waits for a phase that never ends (it asked for parity 0)"},
        Mistake{"TooManyBytesExpected",
                Roles("%r11", "%r12",
                      "mbarrier.arrive.expect_tx.shared.b64 _, [full], 512; "
                      "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [s+2048], [%rd1, "
                      "{0}], [full];\n"),
                "still needs 0 arrivals and 256 bytes of copies"},
        Mistake{"MoreBytesThanAnMbarrierCounts", "@!%p8 mbarrier.arrive.expect_tx.shared.b64 _, [full], 1048576;\n",
                "expects 1048576 bytes, so that the phase waits for 1048576; an mbarrier counts up to 1048575 bytes"},
        Mistake{"ReleasedBeforeTheWait", Roles("%r11", "%r12", kLoad, ""), "may still be reading: wgmma.wait_group"}),
    GetName);

// The text of the deadlock has the place of each role.
TEST(AsyncKernels, RolesThatWaitAreNamed) {
  const std::string said = RunProduct(OnlyA(Roles("%r11", "%r11")), 160);
  EXPECT_NE(said.find("warps 0 to 3 wait at PTX line"), std::string::npos) << said;
  EXPECT_NE(said.find("warp 4 waits at PTX line"), std::string::npos) << said;
  EXPECT_NE(said.find("phase 0, of parity 0, which still needs 1 arrivals"), std::string::npos) << said;
}

TEST(AsyncKernels, AWarpgroupHasFourWarps) {
  EXPECT_NE(RunProduct(kReady + Multiply(), 96)
                .find("needs the warps 0 to 3 of the block, a warpgroup, and warp 3 doesn't exist"),
            std::string::npos);
}

}  // namespace
}  // namespace kernpack::emulator
