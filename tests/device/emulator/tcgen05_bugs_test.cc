// Planted bugs of tensor memory and of the products that use it, and the kernel without them.
#include "tcgen05_support.h"

namespace kernpack::emulator {
namespace {
namespace of_tensor {

// A of 128 x 16 and B of 16 x 16 f16, both of ones, are at the beginning of s, without a swizzle, and have the descriptors %rd4 and %rd5.
// %p4: a thread of warp 0; %p5: thread 0. %r41 is the word that alloc writes, %r42 the mbarrier, %r48 the instruction descriptor, %rd8
// the thread's word of the result.
const std::string kTensorSetup =
    ".shared .align 1024 .b8 s[8192]; .shared .align 8 .b64 full; .shared .b32 slot; mov.u64 %rd4, 0x0000401000080000; "
    "mov.u64 %rd5, 0x0000401000080100; setp.lt.u32 %p4, %r0, 32; setp.eq.u32 %p5, %r0, 0; setp.ne.u32 %p6, 0, 0; "
    "mov.u32 %r41, slot; mov.u32 %r42, full; mov.b32 %r48, 0x08040010; add.s64 %rd8, %rd0, %rd20; shr.u32 %r44, %r0, "
    "5; shl.b32 %r44, %r44, 21;\n";
const std::string kFillTensorOperands =
    "mov.u32 %r5, 0;\n$fill: mul.lo.u32 %r6, %r5, 512; mad.lo.u32 %r6, %r0, 4, %r6; st.shared.u32 [%r6], 0x3c003c00; "
    "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 10; @%p1 bra $fill;\n";
const std::string kTensorFence = "fence.proxy.async.shared::cta;\n";
const std::string kAllocate = "@%p4 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r41], 64;\n";
const std::string kRelinquish = "@%p4 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n";
const std::string kMakeBarrier = "@%p5 mbarrier.init.shared.b64 [%r42], 1;\n";
const std::string kMeet = "bar.sync 0;\n";
const std::string kGetAddress = "ld.shared.u32 %r43, [%r41]; add.u32 %r45, %r43, %r44;\n";
const std::string kBegin =
    kTensorSetup + kFillTensorOperands + kTensorFence + kAllocate + kRelinquish + kMakeBarrier + kMeet + kGetAddress;
const std::string kMultiplyTensor = "@%p5 tcgen05.mma.cta_group::1.kind::f16 [%r43], %rd4, %rd5, %r48, %p6;\n";
const std::string kEnd = kReadSum + kWaitForLoad + kShowSum + kMeet + kFreeTensor;
const std::string kStoreTensor =
    "mov.b32 %r51, 0x3f800000; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r45 + 3], {%r51};\n";
const std::string kWaitForStore = "tcgen05.wait::st.sync.aligned;\n";

std::string RunTensor(const std::string& body, float expected = 16) { return RunTensorKernel(body, expected); }

TEST(TensorKernels, AProductThatIsWaitedFor) {
  EXPECT_EQ(RunTensor(kBegin + kMultiplyTensor + kCommitTensor + AwaitTensor() + kEnd), "");
}
// One warp waits for the product, and the others meet it.
TEST(TensorKernels, WaitingOnceForAll) {
  EXPECT_EQ(RunTensor(kBegin + kMultiplyTensor + kCommitTensor + "@!%p4 bra $meet;\n" + AwaitTensor() +
                      "$meet: " + kMeet + kEnd),
            "");
}
TEST(TensorKernels, ASumThatIsStoredFirst) {
  EXPECT_EQ(
      RunTensor(kTensorSetup + kFillTensorOperands + kTensorFence + kAllocate + kMakeBarrier + kMeet + kGetAddress +
                    "mov.u32 %r52, 0;\n$store: " + "add.u32 %r53, %r45, %r52; mov.b32 %r51, 0x3f800000; " +
                    "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r53], {%r51}; add.u32 %r52, %r52, 1; setp.lt.u32 %p1, " +
                    "%r52, 16; @%p1 bra $store;\n" + kWaitForStore + kMeet + "setp.eq.u32 %p6, 0, 0;\n" +
                    kMultiplyTensor + kCommitTensor + AwaitTensor() + kEnd,
                17),
      "");
}
TEST(TensorKernels, ABaseOffsetWithoutSwizzle) {
  EXPECT_EQ(RunTensor(kBegin + "mov.u64 %rd4, 0x0002401000080000;\n" + kMultiplyTensor + kCommitTensor + AwaitTensor() +
                      kEnd),
            "");
}
// Each product has its phase, and operands are written anew only then; nobody tests the phase before the second commit.
TEST(TensorKernels, CommitsInARow) {
  EXPECT_EQ(RunTensor(kBegin + kMultiplyTensor + kCommitTensor + "setp.eq.u32 %p6, 0, 0;\n" + kMultiplyTensor +
                          kCommitTensor + AwaitTensor("0") + kMeet +
                          "$again: mbarrier.try_wait.parity.shared.b64 %p1, [%r42], "
                          "1; @!%p1 bra $again;\n" +
                          kMeet + "@%p5 st.shared.u32 [s], 0;\n" + kEnd,
                      32),
            "");
}
// Columns that are given back may be allocated again.
TEST(TensorKernels, AllocatingAgain) {
  EXPECT_EQ(RunTensor(kTensorSetup + kFillTensorOperands + kTensorFence +
                      "@%p4 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r41], 512;\n" + kMakeBarrier +
                      kMeet + kGetAddress + kMeet + "@%p4 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r43, 512;\n" +
                      kAllocate + kMeet + kGetAddress + kMultiplyTensor + kCommitTensor + AwaitTensor() + kEnd),
            "");
}

// Column 3 of D, which holds 4 before.
std::vector<float> AddTo(const std::string& operands, const std::string& more = "") {
  TestMemory memory;
  const uint64_t out = memory.Room(512);
  EXPECT_EQ(RunText(Kernel(1, kBegin +
                                  "mov.u32 %r52, 0;\n$store: add.u32 %r53, %r45, %r52; mov.b32 %r51, 0x40800000; "
                                  "tcgen05.st.sync.aligned.32x32b.x1.b32 [%r53], {%r51}; add.u32 %r52, %r52, 1; "
                                  "setp.lt.u32 %p1, %r52, 16; @%p1 bra $store;\n" +
                                  kWaitForStore + kMeet + "setp.eq.u32 %p6, 0, 0; " + more +
                                  "@%p5 tcgen05.mma.cta_group::1.kind::f16 [%r43], %rd4, %rd5, %r48, " + operands +
                                  ";\n" + kCommitTensor + AwaitTensor() + kEnd),
                    memory, {out}, {1, 128, 0, 20}),
            "");
  return memory.Read<float>(out, 128);
}
TEST(TensorKernels, ASumWhoseLanesAreLeftOut) {
  const std::vector<float> found = AddTo("{%r30, 0, %r31, %r32}, %p6",
                                         "mov.b32 %r30, 5; mov.b32 %r31, 0xffff0000; "
                                         "mov.b32 %r32, 0xffffffff;\n");
  for (uint32_t lane = 0; lane < 128; ++lane)
    EXPECT_EQ(found[lane], lane == 0 || lane == 2 || lane >= 80 ? 4 : 20) << lane;
}
TEST(TensorKernels, ASumThatIsScaledFirst) {
  for (const float of : AddTo("%p6, 3")) EXPECT_EQ(of, 16.5F);
  for (const float of : AddTo("{0, 0, 0, 0}, %p6, 1")) EXPECT_EQ(of, 18);
  for (const float of : AddTo("{0, 0, 0, 0}, 0, 1")) EXPECT_EQ(of, 16);
}

// Both blocks of a cluster wait for the product of the first.
std::string CommitTo(const std::string& blocks) {
  return kBegin +
         "barrier.cluster.arrive; barrier.cluster.wait; mov.u32 %r20, %cluster_ctarank; setp.eq.u32 %p7, %r20, 0; "
         "and.pred %p5, %p5, %p7; mov.u16 %rs1, " +
         blocks + ";\n" + kMultiplyTensor +
         "@%p5 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r42], "
         "%rs1;\n" +
         AwaitTensor() + "@!%p7 bra $other;\n" + kReadSum + kWaitForLoad + kShowSum + "$other: " + kMeet + kFreeTensor +
         "barrier.cluster.arrive; barrier.cluster.wait;\n";
}
TEST(TensorKernels, ACommitToTwoBlocks) {
  TestMemory memory;
  const uint64_t out = memory.Room(512);
  EXPECT_EQ(RunText(Kernel(1, CommitTo("3")), memory, {out}, {2, 128, 0, 20, 0, 2}), "");
  for (const float of : memory.Read<float>(out, 128)) EXPECT_EQ(of, 16);
}

class TensorMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(TensorMistakes, AreFound) {
  const Mistake& mistake = GetParam();
  const std::string said = RunTensor(mistake.body);
  EXPECT_NE(said.find(mistake.said), std::string::npos) << said;
}

const std::string kWhole = kMultiplyTensor + kCommitTensor + AwaitTensor();
// Issued by the last warp, behind what the others have done.
const std::string kLastWarp = "setp.eq.u32 %p5, %r0, 96;\n";
std::string WithForm(const std::string& descriptor) {
  return kBegin + "mov.b32 %r48, " + descriptor + ";\n" + kWhole + kEnd;
}
std::string WithA(const std::string& descriptor) {
  return kBegin + "mov.u64 %rd4, " + descriptor + ";\n" + kWhole + kEnd;
}

INSTANTIATE_TEST_SUITE_P(
    Planted, TensorMistakes,
    testing::Values(
        Mistake{"NoWait", kBegin + kMultiplyTensor + kCommitTensor + kEnd,
                "may still be writing: a wait for the mbarrier of its tcgen05.commit has to come first"},
        Mistake{"NoCommit", kBegin + kMultiplyTensor + kEnd,
                "a tcgen05.commit by that thread and a wait for its mbarrier have to come first"},
        Mistake{"WrongParity", kBegin + kMultiplyTensor + kCommitTensor + AwaitTensor("1") + kEnd,
                "may still be writing"},
        Mistake{"CommitBeforeTheProduct", kBegin + kCommitTensor + kMultiplyTensor + AwaitTensor() + kEnd,
                "a tcgen05.commit by that thread"},
        Mistake{"CommitByAnother",
                kBegin + kMultiplyTensor + "setp.eq.u32 %p5, %r0, 1;\n" + kCommitTensor + AwaitTensor() + kEnd,
                "a tcgen05.commit by that thread"},
        Mistake{"OneWarpWaits",
                kBegin + kMultiplyTensor + kCommitTensor + "@!%p4 bra $meet;\n" + AwaitTensor() + "$meet: " + kEnd,
                "may still be writing"},
        Mistake{"NoSecondCommit", kBegin + kMultiplyTensor + kCommitTensor + AwaitTensor() + kMultiplyTensor + kEnd,
                "may still be writing"},
        Mistake{"StoreNotWaitedFor", kBegin + kStoreTensor + kMeet + kWhole + kEnd,
                "tcgen05.wait::st has to come first"},
        Mistake{"StoreWithoutBarrier", kBegin + kLastWarp + kStoreTensor + kWaitForStore + kWhole + kEnd,
                "a barrier has to come between its tcgen05.wait and this"},
        Mistake{"WaitBehindTheBarrier", kBegin + kStoreTensor + kMeet + kWaitForStore + kWhole + kEnd, "has to come"},
        Mistake{"ReadBackAtOnce", kBegin + kStoreTensor + kReadSum + kWaitForLoad + kShowSum + kMeet + kFreeTensor,
                "tcgen05.wait::st has to come first"},
        Mistake{"OverwrittenWhileRead",
                kBegin + kWhole + kReadSum + kMeet + kMultiplyTensor + kCommitTensor + kWaitForLoad + kShowSum + kMeet +
                    kFreeTensor,
                "tcgen05.wait::ld has to come first"},
        Mistake{"OverwrittenWithoutBarrier",
                kBegin + kWhole + kReadSum + kWaitForLoad + kLastWarp + kMultiplyTensor + kCommitTensor + kShowSum +
                    kMeet + kFreeTensor,
                "a barrier has to come between its tcgen05.wait and this"},
        Mistake{"StoreIntoAProduct",
                kBegin + kMultiplyTensor + kCommitTensor + kMeet + kStoreTensor + kWaitForStore + kMeet +
                    AwaitTensor() + kFreeTensor,
                "writes tensor memory at lane 0, column 3"},
        Mistake{"OperandsOverwritten",
                kBegin + kMultiplyTensor + kCommitTensor + "@%p5 st.shared.u32 [s], 0;\n" + AwaitTensor() + kEnd,
                "may still be reading: a tcgen05.commit and a wait for its mbarrier has to come first"},
        Mistake{"NoProxyFence",
                kTensorSetup + kFillTensorOperands + kAllocate + kMakeBarrier + kMeet + kGetAddress + kWhole + kEnd,
                "fence.proxy.async"},
        Mistake{"OperandsWithoutBarrier",
                kTensorSetup + kAllocate + kMakeBarrier + kMeet + kGetAddress + kFillTensorOperands + kTensorFence +
                    kLastWarp + kWhole + kEnd,
                "with no barrier in between"},
        Mistake{"OutsideOfTheColumns",
                kBegin + kWhole + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r50}, [%r45 + 64];\n" + kWaitForLoad +
                    kMeet + kFreeTensor,
                "reads tensor memory at lane 0, column 64, which isn't allocated"},
        Mistake{"SumOutsideOfTheColumns", kBegin + "add.u32 %r43, %r43, 56;\n" + kWhole + kEnd,
                "writes D to tensor memory at lane 0, column 64, which isn't allocated"},
        Mistake{"AfterDeallocation", kBegin + kWhole + kMeet + kFreeTensor + kMeet + kReadSum + kWaitForLoad,
                "which isn't allocated"},
        Mistake{"DeallocatedTooEarly", kBegin + kMultiplyTensor + kCommitTensor + kMeet + kFreeTensor + AwaitTensor(),
                "deallocates tensor memory at lane 0, column 0"},
        Mistake{"NeverDeallocated", kBegin + kWhole + kReadSum + kWaitForLoad + kShowSum,
                "allocates 64 columns that nobody has deallocated when the block ends"},
        Mistake{"EachWarpAllocates",
                kTensorSetup + kMakeBarrier + "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r41], 64;\n",
                "with no barrier in between"},
        Mistake{"OneLaneAllocates",
                kTensorSetup + "@%p5 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r41], 64;\n" + kMeet,
                "all threads of a warp have to reach the same barrier"},
        Mistake{"AllocatesAfterRelinquishing", kTensorSetup + kRelinquish + kAllocate,
                "has given up the block's right"},
        Mistake{"OddColumns", kTensorSetup + "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r41], 48;\n",
                "has 48 columns; expected a power of two from 32 to 512"},
        Mistake{
            "TooManyColumns",
            kTensorSetup + kAllocate + "@%p4 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r41], 512;\n",
            "waits for 512 columns of tensor memory"},
        Mistake{"OtherColumnsDeallocated",
                kBegin + kWhole + kMeet + "@%p4 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r43, 32;\n",
                "no tcgen05.alloc gave this address for this number of columns"},
        Mistake{"LanesOfAnotherWarp",
                kBegin + kWhole + "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r50}, [%r43];\n" + kWaitForLoad,
                "has an address at lane 0; warp 1 of the block has lanes 32 to 63"},
        Mistake{"ThreadsDiffer",
                kBegin + kWhole + "add.u32 %r45, %r45, %r0; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r50}, [%r45];\n",
                "all threads have to give the same"},
        Mistake{"NothingWasStored", kBegin + kEnd, "made from tensor memory that nothing has written"},
        Mistake{"AddsToNothing", kBegin + "setp.eq.u32 %p6, 0, 0;\n" + kWhole + kEnd,
                "made from tensor memory that nothing has written"},
        Mistake{"UnwrittenOperands", kTensorSetup + kAllocate + kMakeBarrier + kMeet + kGetAddress + kWhole + kEnd,
                "made from tensor memory that nothing has written"},
        Mistake{"CommitToNothing", kTensorSetup + kAllocate + kMeet + kGetAddress + kCommitTensor,
                "names memory that isn't an mbarrier"},
        Mistake{"CommitToNoBlock", CommitTo("0"), "has a multicast to no block of the cluster"},
        Mistake{"CommitToAnotherCluster", CommitTo("4"), "names block 2 of the cluster, which has 1"},
        Mistake{"InvalidatedTooEarly",
                kBegin + kMultiplyTensor + kCommitTensor + "@%p5 mbarrier.inval.shared.b64 [%r42];\n",
                "invalidates an mbarrier at which PTX line"},
        Mistake{"SumOfF16", WithForm("0x08040000"), "D of f16 (bits 4 and 5) isn't emulated"},
        Mistake{"SparseForm", WithForm("0x08040014"), "a sparse A (bit 2) isn't emulated"},
        Mistake{"TypesDiffer", WithForm("0x08040090"), "A and B have different types"},
        Mistake{"NoSuchType", WithForm("0x08040910"), "have to be 0 (f16) or 1 (bf16)"},
        Mistake{"RowsOfForm", WithForm("0x06040010"), "has to be 64 or 128"},
        Mistake{"ColumnsOfForm", WithForm("0x08020010"), "of 16 if M is 128"},
        Mistake{"DescriptorOfWgmma", WithA("0x0000001000080000"), "bits 46 to 48 have to be 0b001"},
        Mistake{"OddSwizzle", WithA("0x2000401000080000"), "atoms of 32 bytes"},
        Mistake{"BaseOffset", WithA("0x4002401000080000"), "a base offset (bits 49 to 51) isn't emulated"},
        Mistake{"OutsideOfSharedMemory", WithA("0x0000401000083f00"), "reads A at 0x3f000"},
        Mistake{"SumAtALane", kBegin + "add.u32 %r43, %r43, 0x100000;\n" + kWhole + kEnd,
                "has D at lane 16; expected 0"}),
    GetName);

}  // namespace of_tensor
}  // namespace
}  // namespace kernpack::emulator
