// Planted mistakes of the asynchronous instructions, written from the PTX manual before the checks were read. Beside each is the right
// kernel, which differs in a line. The page has the score as it came.
#include "exec/tensor_map.h"
#include "support.h"

namespace kernpack::emulator {
namespace async_pairs {

// %rd0: 1,024 words, each of two f16 ones. %rd1: as many words that nothing has written. %rd2: tensor maps. %rd8 and %rd9: the thread's word
// of %rd1 and %rd0. %r50: 4 KiB of shared memory; %r53: the thread's word there; %r51, %r52: two mbarriers each. %r1: the warp, %r2: the
// lane. %p8: not the first thread.
std::string Async(const std::string& body) {
  return Kernel(3,
                ".shared .align 1024 .b8 s[4096]; .shared .align 16 .b64 full[2]; .shared .align 16 .b64 empty[2]; "
                "mov.u32 %r50, s; mov.u32 %r51, full; mov.u32 %r52, empty; mad.lo.u32 %r53, %r0, 4, %r50; shr.u32 %r1, "
                "%r0, 5; and.b32 %r2, %r0, 31; setp.ne.u32 %p8, %r0, 0; add.s64 %rd8, %rd1, %rd20; add.s64 %rd9, %rd0, "
                "%rd20; mov.u64 %rd4, 0x1000080000; mov.u64 %rd5, 0x1000080080;\n" +
                    body + "\n$end:");
}
constexpr uint32_t kOnes = 0x3c003c00;

TensorMap MakeMap(uint64_t address, uint8_t element, std::vector<uint32_t> dims, std::vector<uint32_t> boxes,
                  uint8_t swizzle = 0) {
  TensorMap map{};
  map.address = address;
  map.element = element;
  map.rank = static_cast<uint8_t>(dims.size() - 1);
  map.swizzle = swizzle;
  uint64_t pitch = element == 6 ? 2 : 4;
  for (size_t i = 0; i < dims.size(); ++i) {
    map.dims[i] = dims[i];
    map.boxes[i] = boxes[i];
    map.steps[i] = 1;
    pitch *= dims[i];
    if (i + 1 < dims.size()) map.strides[i] = pitch;
  }
  map.magic = TensorMap::kMagic;
  return map;
}

std::string RunAsync(const std::string& body, Shape shape, uint32_t* first = nullptr) {
  TestMemory memory;
  const uint64_t data = memory.Add(std::vector<uint32_t>(1024, kOnes)), out = memory.Room(4096);
  const uint64_t maps = memory.Add(std::vector<TensorMap>{
      MakeMap(data, 2, {1024}, {64}), MakeMap(out, 2, {1024}, {64}), MakeMap(data, 2, {2048}, {64}),
      MakeMap(data, 2, {64, 8}, {32, 2}), MakeMap(data, 6, {64, 32}, {64, 8}, 3)});
  shape.seconds = 20;
  const std::string said = RunText(Async(body), memory, {data, out, maps}, shape);
  if (first != nullptr) *first = memory.Read<uint32_t>(out, 1)[0];
  return said;
}

const std::string kInit =
    "@%p8 bra $made;\nmbarrier.init.shared.b64 [%r51], 1;\nmbarrier.init.shared.b64 [%r51+8], 1;\n"
    "mbarrier.init.shared.b64 [%r52], 1;\nmbarrier.init.shared.b64 [%r52+8], 1;\n"
    "fence.mbarrier_init.release.cluster;\n$made: bar.sync 0;\n";
std::string WaitFor(const std::string& barrier, const std::string& parity, const std::string& label) {
  return label + ": mbarrier.try_wait.parity.shared.b64 %p1, [" + barrier + "], " + parity + "; @!%p1 bra " + label +
         ";\n";
}
const std::string kAsyncFence = "fence.proxy.async.shared::cta;\n", kSync = "bar.sync 0;\n",
                  kGroupOf = "wgmma.fence.sync.aligned;\n", kCommitGroup = "wgmma.commit_group.sync.aligned;\n",
                  kWaitGroup = "wgmma.wait_group.sync.aligned 0;\n", kStoreSum = "st.global.f32 [%rd8], %f1;\n",
                  kCommitBulk = "cp.async.bulk.commit_group;\n", kWaitBulk = "cp.async.bulk.wait_group 0;\n",
                  kWaitRead = "cp.async.bulk.wait_group.read 0;\n";
const std::string kClear =
    "mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1; mov.f32 %f5, %f1; mov.f32 %f6, "
    "%f1; mov.f32 %f7, %f1; mov.f32 %f8, %f1;\n";
// The threads of `threads` write A and B.
std::string Fill(const std::string& words, int threads, const std::string& label) {
  return "mov.u32 %r5, %r53;\n" + label + ": st.shared.u32 [%r5], 0x3c003c00; add.u32 %r5, %r5, " +
         std::to_string(4 * threads) + "; setp.lt.u32 %p1, %r5, " + words + "; @%p1 bra " + label + ";\n";
}
std::string Product(const std::string& sum, const std::string& a = "%rd4, %rd5, 1, 1, 1, 0, 0") {
  return "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {" + sum + "}, " + a + ";\n";
}
const std::string kSum = "%f1, %f2, %f3, %f4", kOtherSum = "%f5, %f6, %f7, %f8",
                  kByRegisters = "{%r20, %r21, %r22, %r23}, %rd5, 1, 1, 1, 0";
const std::string kLoadFactor =
    "ld.shared.u32 %r20, [%r53]; ld.shared.u32 %r21, [%r53]; ld.shared.u32 %r22, [%r53]; ld.shared.u32 %r23, "
    "[%r53];\n";
const std::string kOperands = Fill("2304", 128, "$fill") + kAsyncFence + kSync + kClear;

// Warp 1 brings six stages of 128 bytes, warp 0 adds them up.
const std::string kTakesTurns = "setp.eq.u32 %p6, %r1, 1; @%p6 bra $produce;\n";
const std::string kOfStage =
    "and.b32 %r11, %r10, 1; shr.u32 %r12, %r10, 1; and.b32 %r12, %r12, 1; shl.b32 %r13, %r11, 3; add.u32 %r14, %r51, "
    "%r13; add.u32 %r15, %r52, %r13; mad.lo.u32 %r16, %r11, 128, %r50;\n";
const std::string kFilled = WaitFor("%r14", "%r12", "$full"), kFreed = WaitFor("%r15", "%r18", "$free"),
                  kExpect = "mbarrier.arrive.expect_tx.shared.b64 _, [%r14], 128;\n",
                  kNextStage = "add.u32 %r10, %r10, 1; setp.lt.u32 %p2, %r10, 6; @%p2 bra ";
const std::string kBring =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r16], [%rd10], 64, [%r14];\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r16+64], [%rd10+64], 64, [%r14];\n";
const std::string kReadStage =
    "ld.shared.u32 %r17, [%r16]; and.b32 %r17, %r17, 3; add.u32 %r30, %r30, 1; add.u32 %r30, %r30, %r17; "
    "bar.warp.sync -1;\n";
const std::string kRelease = "@!%p8 mbarrier.arrive.shared.b64 _, [%r15];\n";
const std::string kRing =
    kInit + "mov.u32 %r10, 0; mov.u32 %r30, 0; mov.u64 %rd10, %rd0;\n" + kTakesTurns +
    "setp.gt.u32 %p6, %r1, 1; @%p6 bra $end;\n$take: " + kOfStage + kFilled + "mad.lo.u32 %r16, %r2, 4, %r16;\n" +
    kReadStage + kRelease + kNextStage + "$take;\nst.global.u32 [%rd8], %r30; bra $end;\n" +
    "$produce: elect.sync _|%p5, -1; @!%p5 bra $end;\n$give: " + kOfStage + "xor.b32 %r18, %r12, 1;\n" + kFreed +
    kExpect + kBring + "add.s64 %rd10, %rd10, 128;\n" + kNextStage + "$give;";

const std::string kCopyWord = "cp.async.ca.shared.global [%r53], [%rd9], 4;\n",
                  kCommitCopy = "cp.async.commit_group;\n", kWaitCopy = "cp.async.wait_group 0;\n";
const std::string kNeighbour = "xor.b32 %r3, %r0, 32; mad.lo.u32 %r4, %r3, 4, %r50;\n",
                  kShowNeighbour = "ld.shared.u32 %r6, [%r4]; st.global.u32 [%rd8], %r6;\n";
const std::string kBulkOut = "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r50], 256;\n";
const std::string kFillTile = "st.shared.u32 [%r53], 0x3c003c00;\n";
std::string TensorLoad(const std::string& map, const std::string& coordinates, int rank, int bytes) {
  return "@%p8 bra $loaded;\nmbarrier.arrive.expect_tx.shared.b64 _, [%r51], " + std::to_string(bytes) +
         ";\ncp.async.bulk.tensor." + std::to_string(rank) +
         "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r50], [" + map + ", {" + coordinates +
         "}], [%r51];\n$loaded:\n" + WaitFor("%r51", "0", "$in");
}
const std::string kShowWord = "ld.shared.u32 %r6, [%r53]; st.global.u32 [%rd8], %r6;\n";
// Before the tensor map of %rd11 is used, thread 0 gives it another address.
const std::string kChangeMap =
    "add.s64 %rd12, %rd2, %rd20; ld.global.u32 %r6, [%rd12]; st.shared.u32 [%r53], %r6; bar.warp.sync -1;\n@!%p8 "
    "tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%r50], %rd0;\nbar.warp.sync -1; add.s64 %rd11, %rd1, "
    "1024;\ntensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%rd11], [%r50], "
    "128;\n";
const std::string kAcquireMap = "fence.proxy.tensormap::generic.acquire.gpu [%rd11], 128;\n";

// Blocks of a cluster of two. %r40: the rank. %p7: not rank 0.
const std::string kRank = "mov.u32 %r40, %cluster_ctarank; setp.ne.u32 %p7, %r40, 0;\n",
                  kInitFence = "fence.mbarrier_init.release.cluster;\n";
const std::string kClusterMeets = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n";
const std::string kClusterInit = kRank + "@!%p8 mbarrier.init.shared.b64 [%r51], 1;\n" + kInitFence +
                                 "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;\n";
const std::string kLeader = "mapa.shared::cluster.u32 %r41, %r51, 0;\n";
const std::string kTellLeader = kClusterInit + "@!%p7 bra $wait;\n@%p8 bra $meet;\n" + kLeader +
                                "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r41];\nbra $meet;\n" +
                                WaitFor("%r51", "0", "$wait") + "st.global.u32 [%rd8], 1;\n$meet: " + kClusterMeets;
const std::string kAwaitsItsPart = WaitFor("%r51", "0", "$in") + kShowWord;
const std::string kMulticast =
    kRank +
    "@!%p8 mbarrier.init.shared.b64 [%r51], 1;\nfence.mbarrier_init.release.cluster;\n@!%p8 "
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r51], 256;\n" +
    kClusterMeets +
    "or.pred %p9, %p7, %p8; @%p9 bra $sent;\nmov.u16 %rs1, 3;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r50], [%rd0], 256, [%r51], "
    "%rs1;\n$sent:\n" +
    kAwaitsItsPart;

// Columns of tensor memory, into which each thread writes a number.
const std::string kColumns =
    "setp.lt.u32 %p4, %r0, 32;\n@%p4 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r50], 32;\n@%p4 "
    "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\nbar.sync 0;\nld.shared.u32 %r43, [%r50]; shl.b32 "
    "%r44, %r1, 21; add.u32 %r45, %r43, %r44; mov.u32 %r46, 7;\ntcgen05.st.sync.aligned.32x32b.x1.b32 [%r45], "
    "{%r46};\ntcgen05.wait::st.sync.aligned;\ntcgen05.ld.sync.aligned.32x32b.x1.b32 {%r47}, [%r45];\n";
const std::string kWaitForColumns = "tcgen05.wait::ld.sync.aligned;\n",
                  kFreeColumns = "@%p4 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r43, 32;\n";

struct Pair {
  const char* name;
  std::string right, from, to;  // the mistake has `to` where the right kernel has `from`
  std::string said;  // empty: only a wrong result shows the mistake
  Shape shape = {1, 64};
};
std::vector<Pair> Pairs() {
  return {
      {"StoreOfFreshWrites",
       kFillTile + kAsyncFence + kSync +
           "@%p8 bra $end;\nmov.u32 %r10, 0; add.s64 %rd10, %rd2, 128;\n"
           "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd10, {%r10}], [%r50];\n" +
           kCommitBulk + kWaitBulk,
       kAsyncFence, "", "with no fence.proxy.async in between"},
      {"HandedOverWithoutProxyFence",
       "@!%p8 mbarrier.init.shared.b64 [%r51], 32; bar.sync 0;\nsetp.eq.u32 %p6, %r1, 4; @%p6 bra $produce;\n" +
           WaitFor("%r51", "0", "$full") + kClear + kGroupOf + Product(kSum) + kCommitGroup + kWaitGroup + kStoreSum +
           "bra $end;\n$produce: mad.lo.u32 %r53, %r2, 4, %r50;\n" + Fill("2304", 32, "$fill") + kAsyncFence +
           "mbarrier.arrive.shared.b64 _, [%r51];",
       kAsyncFence,
       "",
       "with no fence.proxy.async in between",
       {1, 160}},
      {"SumOfTheLaterGroup",
       kOperands + kGroupOf + Product(kSum) + kCommitGroup + Product(kOtherSum) + kCommitGroup +
           "wgmma.wait_group.sync.aligned 1;\nst.global.f32 [%rd8], %f1;\n" + kWaitGroup,
       "[%rd8], %f1",
       "[%rd8], %f5",
       "reads a register that wgmma at PTX line",
       {1, 128}},
      {"NextFactorLoadedTooEarly",
       kOperands + kLoadFactor + kGroupOf + Product(kSum, kByRegisters) + kCommitGroup + kWaitGroup + kLoadFactor +
           kGroupOf + Product(kSum, kByRegisters) + kCommitGroup + kWaitGroup + kStoreSum,
       kWaitGroup + kLoadFactor,
       kLoadFactor + kWaitGroup,
       "writes a register that wgmma at PTX line",
       {1, 128}},
      {"OperandRefilledByCpAsync",
       kOperands + kGroupOf + Product(kSum) + kCommitGroup + kWaitGroup + kSync +
           "setp.lt.u32 %p3, %r0, 64; @%p3 cp.async.ca.shared.global [%r53+2048], [%rd9], 4;\n" + kWaitGroup +
           "cp.async.wait_all;\n" + kStoreSum,
       kWaitGroup + kSync,
       kSync,
       "may still be reading: wgmma.wait_group has to come first",
       {1, 128}},
      {"ParityThatTurnsWithEachStage", kRing, kFilled, WaitFor("%r14", "%r11", "$full"),
       "may still be writing there: its mbarrier says when it has arrived"},
      {"BytesOfOneCopyOfTwo", kRing, kExpect, "mbarrier.arrive.expect_tx.shared.b64 _, [%r14], 64;\n",
       "64 more bytes have been copied than mbarrier.expect_tx said"},
      {"BytesOfTwoStages", kRing, kExpect, "mbarrier.arrive.expect_tx.shared.b64 _, [%r14], 256;\n",
       "which still needs 0 arrivals and 128 bytes of copies"},
      {"NoWaitForAFreeStage", kRing, kFreed, "", "the phase expects 0 more arrivals"},
      {"ReleasedBeforeTheWarpHasRead", kRing, kReadStage + kRelease, kRelease + kReadStage,
       "read at PTX line 27 (ld.shared.u32) with no barrier in between"},
      {"EveryWarpElectsAProducer",
       kRing,
       kTakesTurns,
       "setp.ge.u32 %p6, %r1, 1; @%p6 bra $produce;\n",
       "the phase expects 0 more arrivals",
       {1, 96}},
      {"CopyReadBeforeItsWait", kCopyWord + kCommitCopy + kNeighbour + kWaitCopy + kSync + kShowNeighbour, kWaitCopy,
       "", "that thread has to wait for it first (cp.async.wait_group)"},
      {"WaitForOneGroupTooFew",
       kCopyWord + kCommitCopy + "cp.async.ca.shared.global [%r53+256], [%rd9+256], 4;\n" + kCommitCopy + kNeighbour +
           kWaitCopy + kSync + "ld.shared.u32 %r6, [%r4+256]; st.global.u32 [%rd8], %r6;\n",
       kWaitCopy, "cp.async.wait_group 1;\n", "that thread has to wait for it first (cp.async.wait_group)"},
      {"WaitBehindTheBarrier", kCopyWord + kCommitCopy + kNeighbour + kWaitCopy + kSync + kShowNeighbour,
       kWaitCopy + kSync, kSync + kWaitCopy, "that thread has to wait for it first (cp.async.wait_group)"},
      {"ArrivalOfCopiesThatCountsTwice",
       "@!%p8 mbarrier.init.shared.b64 [%r51], 64; bar.sync 0;\n" + kCopyWord +
           "cp.async.mbarrier.arrive.noinc.shared.b64 [%r51];\n" + kNeighbour + WaitFor("%r51", "0", "$full") +
           kShowNeighbour,
       ".noinc", "", "which still needs 64 arrivals. Nothing can change that: warps 0 to 1 wait"},
      {"SourceUsedAgain",
       kFillTile + kAsyncFence + kSync + "@%p8 bra $sent;\n" + kBulkOut + kCommitBulk + kWaitRead + "$sent: " + kSync +
           "st.shared.u32 [%r53], 0;\n@!%p8 cp.async.bulk.wait_group 0;\n",
       kWaitRead, "", "may still be reading: cp.async.bulk.wait_group of that thread has to come first"},
      {"ResultOnlyWaitedForToBeRead",
       kFillTile + kAsyncFence + kSync + "@%p8 bra $sent;\n" + kBulkOut + kCommitBulk + kWaitBulk + "$sent: " + kSync +
           "ld.global.u32 %r6, [%rd8]; st.global.u32 [%rd8+1024], %r6;\n",
       kWaitBulk, kWaitRead, "a copy that its thread hasn't waited for (cp.async.bulk.wait_group without .read)"},
      {"BoxBeyondTheAllocation", kInit + "mov.u32 %r10, 0;\n" + TensorLoad("%rd2 + 256", "%r10", 1, 256) + kShowWord,
       "mov.u32 %r10, 0;", "mov.u32 %r10, 1024;", "of the tensor: no allocation is there"},
      {"CoordinatesSwapped",
       kInit + "mov.u32 %r10, 32; mov.u32 %r12, 4;\n" + TensorLoad("%rd2 + 384", "%r10, %r12", 2, 256) + kShowWord,
       "{%r10, %r12}", "{%r12, %r10}", ""},
      {"OtherSwizzleThanTheMap",
       kInit + Fill("2048", 128, "$fill") + kAsyncFence + kSync + kClear +
           "mov.u64 %rd5, 0x4000004000010080; mov.u32 %r10, 0; mov.u32 %r12, 0; add.u32 %r50, %r50, 2048;\n" +
           TensorLoad("%rd2 + 512", "%r10, %r12", 2, 1024) + kGroupOf + Product(kSum) + kCommitGroup + kWaitGroup +
           kStoreSum,
       "0x4000004000010080",
       "0x8000004000010080",
       "with a swizzle of 64 bytes; the copy at PTX line",
       {1, 128}},
      {"MapUsedWithoutAcquire",
       kInit + kChangeMap + kAcquireMap + "mov.u32 %r10, 0; add.u32 %r50, %r50, 1024; add.u32 %r53, %r53, 1024;\n" +
           TensorLoad("%rd11", "%r10", 1, 256) + kShowWord,
       kAcquireMap,
       "",
       "a fence.proxy.tensormap::generic with .acquire for it has to come first",
       {1, 32}},
      {"RelaxedClusterWithoutInitFence",
       kTellLeader,
       kInitFence,
       "",
       "of block (0, 0, 0) has made, with no barrier in between",
       {2, 32, 0, 200, 0, 2}},
      {"ArrivalAtItsOwnBarrier",
       kTellLeader,
       kLeader,
       "mapa.shared::cluster.u32 %r41, %r51, %r40;\n",
       "which still needs 1 arrivals. Nothing can change that: warp 0 of block (0, 0, 0) waits",
       {2, 32, 0, 200, 0, 2}},
      {"MulticastToABlockThatHasEnded",
       kMulticast,
       kAwaitsItsPart,
       "@%p7 exit;\n" + kAwaitsItsPart,
       "is a copy that nobody has waited for when the block ends",
       {2, 64, 0, 200, 0, 2}},
      {"ElectionInHalfAWarp",
       "setp.gt.u32 %p3, %r2, 15;\nelect.sync _|%p5, -1;\n@%p3 bra $half;\n@%p5 st.global.u32 [%rd8], 1;\n$half: "
       "bar.warp.sync -1;\n",
       "elect.sync _|%p5, -1;\n@%p3 bra $half;\n", "@%p3 bra $half;\nelect.sync _|%p5, -1;\n",
       "but only 0x0000ffff arrive"},
      {"RegistersOfOneWarpOfFour",
       "setp.gt.u32 %p3, %r1, 3; @%p3 bra $end;\nsetmaxnreg.dec.sync.aligned.u32 40;\nst.global.u32 [%rd8], 1;\n",
       "%p3, %r1, 3",
       "%p3, %r1, 0",
       "is for whole warpgroups, and warp 1 of this one, which has ended, never ran it",
       {1, 128}},
      {"ColumnsStoredBeforeTheWait",
       kColumns + kWaitForColumns + "st.global.u32 [%rd8], %r47;\nbar.sync 0;\n" + kFreeColumns,
       kWaitForColumns,
       "",
       "may still be reading: tcgen05.wait::ld has to come first",
       {1, 128}},
      {"ColumnsFreedWhileOthersRead",
       kColumns + kWaitForColumns + "st.global.u32 [%rd8], %r47;\nbar.sync 0;\n" + kFreeColumns,
       "bar.sync 0;\n" + kFreeColumns,
       kFreeColumns,
       "which isn't allocated",
       {1, 128}},
  };
}

class AsyncPairs : public testing::TestWithParam<Pair> {};
TEST_P(AsyncPairs, TheRightOneHasNoError) {
  uint32_t first = 0;
  EXPECT_EQ(RunAsync(GetParam().right, GetParam().shape, &first), "");
  EXPECT_NE(first, 0u);
}
TEST_P(AsyncPairs, TheMistakeIsFound) {
  std::string body = GetParam().right;
  const size_t at = body.rfind(GetParam().from);
  ASSERT_NE(at, std::string::npos);
  body.replace(at, GetParam().from.size(), GetParam().to);
  uint32_t first = kOnes;
  const std::string said = RunAsync(body, GetParam().shape, &first);
  if (GetParam().said.empty()) {
    EXPECT_EQ(said, "");
    EXPECT_EQ(first, 0u);
  } else {
    EXPECT_NE(said.find(GetParam().said), std::string::npos) << "it says: " << said;
  }
}
INSTANTIATE_TEST_SUITE_P(Kernels, AsyncPairs, testing::ValuesIn(Pairs()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace async_pairs
}  // namespace kernpack::emulator
