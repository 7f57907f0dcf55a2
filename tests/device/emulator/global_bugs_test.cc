// Twenty planted mistakes of global memory and of the asynchronous copies that touch it, written from the PTX manual before the checks
// were. The page has the score as it came.
#include "support.h"

namespace kernpack::emulator {
namespace {

// %rd0: 64 words of 1. %rd1: 64 words of 0. %r40: the block. %rd31: the block's word of %rd0. %p8: not the block's first thread. %p9: not
// the first block. s: 64 words of shared memory.
std::string Global(const std::string& body) {
  return Kernel(2,
                ".shared .align 128 .b8 s[256]; .shared .align 8 .b64 full; mov.u32 %r40, %ctaid.x; "
                "mul.wide.u32 %rd30, %r40, 4; add.s64 %rd31, %rd0, %rd30; setp.ne.u32 %p8, %r0, 0; setp.ne.u32 "
                "%p9, %r40, 0; add.u32 %r45, %r40, 10; mul.wide.u32 %rd33, %r0, 4;\n" +
                    body + "\n$end:");
}

std::string RunGlobal(const std::string& body, Shape shape) {
  TestMemory memory;
  const uint64_t data = memory.Add(std::vector<uint32_t>(64, 1)), zeros = memory.Add(std::vector<uint32_t>(64, 0));
  return RunText(Global(body), memory, {data, zeros}, shape);
}

// The last block adds what each block has written.
std::string LastBlock(const std::string& fence, const std::string& count = "atom.global.add.u32 %r41, [%rd1], 1;") {
  return "@%p8 bra $end;\nst.global.u32 [%rd31], %r45;\n" + fence + "\n" + count +
         "\nsetp.ne.u32 %p1, %r41, 3; @%p1 bra $end; mov.u32 %r42, 0; mov.u32 %r43, 0; mov.u64 %rd32, %rd0;\n"
         "$sum: ld.global.u32 %r44, [%rd32];\nadd.u32 %r43, %r43, %r44; add.s64 %rd32, %rd32, 4; add.u32 %r42, %r42, "
         "1; "
         "setp.lt.u32 %p2, %r42, 4; @%p2 bra $sum;\nst.global.u32 [%rd0+128], %r43;";
}
// Block 0 writes a word and sets a flag; block 1 waits for the flag and reads the word.
std::string Flag(const std::string& set, const std::string& get, const std::string& before = "") {
  return "@%p8 bra $end;\n@%p9 bra $take;\nst.global.u32 [%rd0+16], 7;\n" + set + "\nbra.uni $end;\n$take:" + before +
         "\n$spin: " + get +
         "\nsetp.eq.u32 %p1, %r41, 0; @%p1 bra $spin;\nld.global.u32 %r42, [%rd0+16];\nst.global.u32 [%rd0+64], %r42;";
}
// Each block adds to a word while it has the lock.
std::string Lock(const std::string& unlock) {
  return "@%p8 bra $end;\n$spin: atom.global.acquire.gpu.cas.b32 %r41, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r41, 0; @%p1 "
         "bra $spin;\nld.global.u32 %r42, [%rd0];\nadd.u32 %r42, %r42, 1;\nst.global.u32 [%rd0], %r42;\n" +
         unlock;
}
// Blocks of a cooperative launch write a word each and read the next block's.
std::string GridBarrier(const std::string& meet) {
  return "@!%p8 st.global.u32 [%rd31], %r45;\n" + meet +
         "\n@%p8 bra $end;\nxor.b32 %r46, %r40, 1; mul.wide.u32 %rd34, %r46, 4; add.s64 %rd34, %rd0, %rd34;\n"
         "ld.global.u32 %r47, [%rd34];\nst.global.u32 [%rd31+128], %r47;";
}
const std::string kGridMeets =
    "bar.sync 0;\n@%p8 bra $met;\nfence.acq_rel.gpu;\natom.global.add.u32 %r41, [%rd1], 1;\n$wait: "
    "ld.acquire.gpu.global.u32 %r42, [%rd1]; setp.lt.u32 %p1, %r42, 2; @%p1 bra $wait;\n$met: bar.sync 0;";
const std::string kFillShared =
    "mov.u32 %r50, s; mad.lo.u32 %r51, %r0, 4, %r50; st.shared.u32 [%r51], %r45;\nfence.proxy.async.shared::cta; "
    "bar.sync "
    "0;\n";
// Each block copies the same 128 bytes out of shared memory, in which each has its own number.
std::string CopyOut(const std::string& copy, const std::string& after = "") {
  return kFillShared + "@%p8 bra $end;\n" + copy + "\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n" +
         after;
}
const std::string kCopyIn =
    "mov.u32 %r50, s; mov.u32 %r52, full; @%p8 bra $end;\nmbarrier.init.shared.b64 [%r52], 1;\n"
    "mbarrier.arrive.expect_tx.shared.b64 _, [%r52], 128;\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r50], [%rd0], 128, [%r52];\n"
    "$in: mbarrier.try_wait.parity.shared.b64 %p1, [%r52], 0; @!%p1 bra $in;\n";

struct GlobalMistake {
  const char* name;
  std::string body, other;  // `other`: the access that the error names besides its own
  Shape shape = {2, 32};
};
class GlobalBugs : public testing::TestWithParam<GlobalMistake> {};
TEST_P(GlobalBugs, AreFound) {
  const std::string said = RunGlobal(GetParam().body, GetParam().shape);
  EXPECT_NE(said.find("of global memory"), std::string::npos) << "it says: " << said;
  EXPECT_NE(said.find("(" + GetParam().other + ")"), std::string::npos) << "it says: " << said;
}
INSTANTIATE_TEST_SUITE_P(
    Kernels, GlobalBugs,
    testing::Values(
        GlobalMistake{"LastBlockWithoutAFence", LastBlock(""), "st.global.u32", {4, 32}},
        GlobalMistake{"EachBlockResetsTheCounter",
                      "@%p8 bra $end;\nmembar.gl;\natom.global.add.u32 %r41, [%rd1], 1;\nst.global.u32 [%rd1], 0;",
                      "st.global.u32"},
        GlobalMistake{"FenceOfTheBlockAlone", LastBlock("membar.cta;"), "st.global.u32", {4, 32}},
        GlobalMistake{"FenceAfterTheCounter",
                      LastBlock("", "atom.global.add.u32 %r41, [%rd1], 1;\nfence.acq_rel.gpu;"),
                      "st.global.u32",
                      {4, 32}},
        GlobalMistake{"CounterOfTheBlockAlone",
                      LastBlock("membar.gl;", "atom.global.cta.add.u32 %r41, [%rd1], 1;"),
                      "atom.global.cta.add.u32",
                      {4, 32}},
        GlobalMistake{"FlagSetByAPlainStore",
                      Flag("membar.gl;\nst.global.u32 [%rd1], 1;", "ld.volatile.global.u32 %r41, [%rd1];"),
                      "st.global.u32"},
        GlobalMistake{"FlagReadByAPlainLoad",
                      Flag("st.release.gpu.global.u32 [%rd1], 1;", "ld.global.u32 %r41, [%rd1];"),
                      "st.release.gpu.global.u32"},
        GlobalMistake{"FlagSetWithoutAFence",
                      Flag("st.volatile.global.u32 [%rd1], 1;", "ld.acquire.gpu.global.u32 %r41, [%rd1];"),
                      "st.global.u32"},
        GlobalMistake{"ReadBeforeTheFlag",
                      Flag("st.release.gpu.global.u32 [%rd1], 1;", "ld.acquire.gpu.global.u32 %r41, [%rd1];",
                           "ld.global.u32 %r48, [%rd0+16]; st.global.u32 [%rd0+68], %r48;"),
                      "st.global.u32"},
        GlobalMistake{"AnotherFlag",
                      Flag("st.release.gpu.global.u32 [%rd1+4], 1; st.relaxed.gpu.global.u32 [%rd1], 1;",
                           "ld.acquire.gpu.global.u32 %r41, [%rd1+8]; mov.u32 %r41, 1;"),
                      "st.global.u32"},
        GlobalMistake{"LockReleasedWithoutAFence", Lock("atom.global.exch.b32 %r41, [%rd1], 0;"), "st.global.u32"},
        GlobalMistake{"HistogramWithoutAtomics",
                      "@%p8 bra $end;\nld.global.u32 %r41, [%rd0];\nadd.u32 %r41, %r41, %r45;\nst.global.u32 [%rd0], "
                      "%r41;",
                      "st.global.u32"},
        GlobalMistake{
            "CounterResetBesideAtomics",
            "@%p8 bra $end;\n@%p9 bra $count;\nst.global.u32 [%rd1], 5;\n$count: red.global.add.u32 [%rd1], 1;",
            "st.global.u32"},
        GlobalMistake{"InPlaceWithANeighbourBlock",
                      "mul.lo.u32 %r41, %r40, 32; add.u32 %r41, %r41, %r0; mul.wide.u32 %rd34, %r41, 4; add.s64 %rd34, "
                      "%rd0, %rd34; setp.eq.u32 %p1, %r41, 63;\nmov.u32 %r43, 0; @!%p1 ld.global.u32 %r43, "
                      "[%rd34+4];\nadd.u32 %r43, %r43, 5;\nst.global.u32 [%rd34], %r43;",
                      "ld.global.u32"},
        GlobalMistake{"TilesThatOverlap",
                      "mul.lo.u32 %r41, %r40, 24; add.u32 %r41, %r41, %r0; mul.wide.u32 %rd34, %r41, 4; add.s64 %rd34, "
                      "%rd0, %rd34;\nst.global.u32 [%rd34], %r45;",
                      "st.global.u32"},
        GlobalMistake{"BarrierOfTheBlockInPlaceOfTheGrids",
                      GridBarrier("membar.gl; bar.sync 0;"),
                      "st.global.u32",
                      {2, 64, 0, 20, 0, 1, true}},
        GlobalMistake{"NoBarrierInTheBlock",
                      "add.s64 %rd34, %rd0, %rd33;\nst.global.u32 [%rd34], %r0;\nxor.b32 %r41, %r0, 32; mul.wide.u32 "
                      "%rd35, %r41, 4; add.s64 %rd35, %rd0, %rd35;\nld.global.u32 %r42, [%rd35];",
                      "ld.global.u32",
                      {1, 64}},
        GlobalMistake{"CopyInBulkOfAnotherBlocksWord",
                      "@%p9 bra $in2; @!%p8 st.global.u32 [%rd0], 9; bra.uni $end;\n$in2:\n" + kCopyIn,
                      "st.global.u32"},
        GlobalMistake{"CopiesOutToOnePlace",
                      CopyOut("cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r50], 128;"),
                      "cp.async.bulk.global.shared::cta.bulk_group"},
        GlobalMistake{"PlainStoreBesideAReductionInBulk",
                      CopyOut("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd0], [%r50], 128;",
                              "@%p9 bra $end; st.global.u32 [%rd0+64], 3;"),
                      "st.global.u32"},
        GlobalMistake{"ReadOfACopyOutThatWasWaitedForAsASourceAlone",
                      kFillShared +
                          "@%p8 bra $end;\ncp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r50], 128;\n"
                          "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\nld.global.u32 %r41, "
                          "[%rd0+4];",
                      "cp.async.bulk.global.shared::cta.bulk_group",
                      {1, 32}}),
    [](const auto& info) { return std::string(info.param.name); });

struct RightKernel {
  const char* name;
  std::string body;
  Shape shape = {2, 32};
};
class GlobalOrder : public testing::TestWithParam<RightKernel> {};
TEST_P(GlobalOrder, IsSeen) { EXPECT_EQ(RunGlobal(GetParam().body, GetParam().shape), ""); }
INSTANTIATE_TEST_SUITE_P(
    Kernels, GlobalOrder,
    testing::Values(
        RightKernel{"LastBlock", LastBlock("membar.gl;"), {4, 32}},
        RightKernel{"LastBlockWithAReleasingCounter",
                    LastBlock("", "atom.global.acq_rel.gpu.add.u32 %r41, [%rd1], 1;"),
                    {4, 32}},
        // As the threads of a block may: each fences what it wrote, they meet, and one of them counts.
        RightKernel{
            "FencesBeforeABarrier",
            "mul.lo.u32 %r41, %r40, 32; add.s64 %rd34, %rd31, %rd33; shr.u32 %r42, %r0, 5; setp.ne.u32 %p2, "
            "%r42, 1; @!%p2 st.global.u32 [%rd31], %r45;\nmembar.gl; bar.sync 0;\n@%p8 bra $out;\n"
            "atom.global.add.u32 %r43, [%rd1], 1; st.shared.u32 [s], %r43;\n$out: bar.sync 0;\nld.shared.u32 "
            "%r43, [s]; setp.ne.u32 %p1, %r43, 1; @%p1 bra $end;\nld.global.u32 %r44, [%rd0]; ld.global.u32 "
            "%r46, [%rd0+4]; add.u32 %r44, %r44, %r46; add.s64 %rd34, %rd0, %rd33;\nld.global.u32 %r44, [%rd0];",
            {2, 96}},
        RightKernel{"LastBlockResetsItsCounter", LastBlock("membar.gl;") + "\nst.global.u32 [%rd1], 0;", {4, 32}},
        RightKernel{"CompareAndSwapInALoop",
                    "ld.global.u32 %r41, [%rd1];\n$l: mov.u32 %r42, %r41; add.u32 %r43, %r42, 1;\natom.global.cas.b32 "
                    "%r41, [%rd1], %r42, %r43; setp.ne.u32 %p1, %r41, %r42; @%p1 bra $l;",
                    {4, 64}},
        RightKernel{"FlagByReleaseAndAcquire",
                    Flag("st.release.gpu.global.u32 [%rd1], 1;", "ld.acquire.gpu.global.u32 %r41, [%rd1];")},
        RightKernel{"FlagByFencesAndVolatile", Flag("membar.gl;\nst.volatile.global.u32 [%rd1], 1;",
                                                    "ld.volatile.global.u32 %r41, [%rd1];\nmembar.gl;")},
        RightKernel{"FlagByAReduction", Flag("fence.acq_rel.gpu;\nred.relaxed.gpu.global.add.u32 [%rd1], 1;",
                                             "ld.relaxed.gpu.global.u32 %r41, [%rd1];\nfence.acq_rel.gpu;")},
        RightKernel{"Lock", Lock("atom.global.release.gpu.exch.b32 %r41, [%rd1], 0;"), {4, 32}},
        RightKernel{"LockByFences", Lock("membar.gl;\nst.volatile.global.u32 [%rd1], 0;"), {4, 32}},
        RightKernel{"BarrierOfTheGrid", GridBarrier(kGridMeets), {2, 64, 0, 20, 0, 1, true}},
        RightKernel{"OneValueFromEachBlock", "st.global.u32 [%rd1], 5;", {4, 64}},
        // As Triton's specialised warps do.
        RightKernel{"OneValueByCopiesOut",
                    "mov.u32 %r45, 5;\n" + CopyOut("cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r50], 128;"),
                    {4, 32}},
        RightKernel{"NeighbouringBytes",
                    "@%p8 bra $end; cvt.u64.u32 %rd40, %r40; add.s64 "
                    "%rd34, %rd0, %rd40; st.global.u8 [%rd34], %r45;",
                    {8, 32}},
        RightKernel{"ReductionsInBulk",
                    CopyOut("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd0], [%r50], 128;"),
                    {4, 32}},
        RightKernel{"ReadOfACopyOut",
                    CopyOut("cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r50], 128;",
                            "ld.global.u32 %r41, [%rd0+4];"),
                    {1, 32}},
        RightKernel{
            "AtomicsWithoutOrder", "red.global.add.u32 [%rd1], 1; atom.global.max.u32 %r41, [%rd1+4], %r45;", {8, 64}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(GlobalRaces, ACopyByCpAsyncReads) {
  const std::string read =
      "@%p8 bra $end;\n@%p9 bra $take;\nst.global.v4.u32 [%rd0+16], {%r45, %r45, %r45, %r45};\n"
      "bra.uni $end;\n$take: mov.u32 %r50, s;\n"
      "cp.async.cg.shared.global [%r50], [%rd0+16], 16;\ncp.async.wait_all;";
  const std::string said = RunGlobal(read, {2, 32});
  EXPECT_NE(said.find("of global memory"), std::string::npos) << "it says: " << said;
  EXPECT_NE(said.find("(st.global.v4.u32)"), std::string::npos) << "it says: " << said;
}

}  // namespace
}  // namespace kernpack::emulator
