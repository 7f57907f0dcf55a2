// Bugs that a kernel may have, planted one by one: each is found, and the message says where.
#include "support.h"

namespace kernpack::emulator {
namespace {

struct Planted {
  const char* name;
  const char* body;
  const char* says;        // a part of the message
  uint32_t block = 32;
  const char* before = "";
};

// Parameters: rd0 an array of 64 words, rd1 one of 64 words that nothing has written, rd2 one of 10 bytes. rd20 is 4 * tid.
constexpr Planted kPlanted[] = {
    {"ReadsBehindTheEnd", "add.s64 %rd3, %rd0, %rd20; ld.global.u32 %r1, [%rd3+132];",
     "thread (31, 0, 0), PTX line 12: ld.global.u32 reads 4 bytes at"},
    {"WritesBehindTheEnd", "add.s64 %rd3, %rd0, %rd20; st.global.u32 [%rd3+252], %r0;",
     "thread (1, 0, 0), PTX line 12: st.global.u32 writes 4 bytes at"},
    {"ReadsBeforeTheBeginning", "add.s64 %rd3, %rd0, %rd20; ld.global.u32 %r1, [%rd3+-4];",
     "thread (0, 0, 0), PTX line 12: ld.global.u32 reads"},
    {"VectorBeyondTheEnd", "ld.global.v2.u32 {%r1, %r2}, [%rd2+8];", "reads 8 bytes"},
    {"NullPointer", "mov.u64 %rd3, 0; st.global.u32 [%rd3], %r0;", "writes 4 bytes at 0x0"},
    {"Misaligned", "ld.global.u32 %r1, [%rd0+2];", "which is not a multiple of 4"},
    {"MisalignedVector", "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd0+8];", "which is not a multiple of 16"},
    {"MisalignedShared", ".shared .align 8 .b8 s[64]; st.shared.u64 [s+4], %rd0;", "which is not a multiple of 8"},
    {"NeverWrittenGlobal", "add.s64 %rd3, %rd1, %rd20; ld.global.u32 %r1, [%rd3];",
     "of global memory that nothing has written"},
    {"PartlyWrittenGlobal", "mov.b16 %rs0, 1; st.global.b16 [%rd1], %rs0; ld.global.u32 %r1, [%rd1];",
     "of global memory that nothing has written"},
    {"AtomicOnNeverWritten", "red.global.add.u32 [%rd1+8], 1;", "updates 4 bytes"},
    {"NeverWrittenShared",
     ".shared .align 4 .b8 s[128]; ld.shared.u32 %r1, [s]; add.u32 %r2, %r1, 1; st.global.u32 [%rd0], %r2;",
     "stores a value made from shared memory that nothing has written: PTX line 12 (ld.shared.u32) read it"},
    {"JumpsByNeverWrittenShared",
     ".shared .align 4 .b8 s[128]; ld.shared.u32 %r1, [s]; setp.eq.u32 %p1, %r1, 0; @%p1 bra $a; $a:",
     "is decided by a value made from shared memory that nothing has written"},
    {"AddressFromNeverWrittenShared",
     ".shared .align 8 .b8 s[128]; ld.shared.u64 %rd5, [s]; ld.global.u32 %r1, [%rd5];",
     "has an address from a value made from shared memory"},
    {"CopiesNeverWrittenShared",
     ".shared .align 4 .b8 s[256]; ld.shared.u32 %r1, [s]; st.shared.u32 [s+4], %r1; bar.warp.sync -1; ld.shared.u32 "
     "%r2, [s+4]; st.global.u32 [%rd0], %r2;",
     "stores a value made from shared memory"},
    {"SharedBeyondTheEnd",
     ".shared .align 4 .b8 s[64]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], "
     "%r0;",
     "thread (16, 0, 0), PTX line 12: st.shared.u32 writes 4 bytes at 0x40: the block has 64 bytes of shared memory"},
    {"LocalBeyondTheEnd", ".local .align 8 .b8 l[16]; mov.u64 %rd3, l; st.local.u32 [%rd3+16], %r0;",
     "the thread has 16 bytes of local memory"},
    {"GenericSharedBeyondTheEnd",
     ".shared .align 4 .b8 s[64]; mov.u64 %rd3, s; cvta.shared.u64 %rd4, %rd3; st.u32 [%rd4+64], %r0;",
     "of shared memory"},
    {"WritesParameters", "mov.b64 %rd3, p0; cvta.param.u64 %rd4, %rd3; st.u32 [%rd4], %r0;",
     "the kernel's parameters, which are constant"},
    {"NeighboursWithoutABarrier",
     ".shared .align 4 .b8 s[512]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2; st.shared.u32 [%r1], "
     "%r0; xor.b32 %r3, %r0, 32; shl.b32 %r3, %r3, 2; mov.u32 %r4, s; add.u32 %r4, %r4, %r3; setp.lt.u32 %p1, %r0, 32; "
     "@%p1 bar.sync 1, 32; @!%p1 ld.shared.u32 %r5, [%r4];",
     "with no barrier in between", 64},
    {"WriteAfterReadWithoutABarrier",
     ".shared .align 4 .b8 s[4]; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [s], %r0; bar.sync 0; ld.shared.u32 %r1, "
     "[s]; setp.eq.u32 %p2, %r0, 33; @%p2 st.shared.u32 [s], %r1;",
     "read at PTX line 12 (ld.shared.u32) with no barrier in between", 64},
    {"TwoWritersOfAWord", ".shared .align 4 .b8 s[4]; st.shared.u32 [s], %r0;",
     "wrote at PTX line 12 (st.shared.u32) with no barrier in between"},
    {"WithinAWarpWithoutSync",
     ".shared .align 4 .b8 s[128]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], "
     "%r0; xor.b32 %r4, %r2, 4; add.u32 %r4, %r1, %r4; ld.shared.u32 %r5, [%r4];",
     "with no barrier in between"},
    {"AtomicAgainstPlain",
     ".shared .align 4 .b8 s[4]; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [s], %r0; atom.shared.add.u32 %r1, [s], "
     "1;",
     "with no barrier in between"},
    {"ReadByAWarpThatAPartialBarrierLeavesOut",
     ".shared .align 4 .b8 s[4]; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [s], %r0; bar.sync 0; ld.shared.u32 %r1, "
     "[s]; setp.lt.u32 %p2, %r0, 64; @%p2 bar.sync 1, 64; @%p1 st.shared.u32 [s], %r1;",
     "read at PTX line 12 (ld.shared.u32) with no barrier in between", 96},
    {"ReadByAWarpAfterAPartialBarrierOfOthers",
     ".shared .align 4 .b8 s[4]; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [s], %r0; bar.sync 0; setp.ge.u32 %p2, "
     "%r0, 64; @%p2 bar.sync 1, 64; ld.shared.u32 %r1, [s]; bar.warp.sync -1; @%p1 st.shared.u32 [s], %r1;",
     "with no barrier in between", 128},
    {"ProducerWritesAfterItHasArrived",
     ".shared .align 4 .b8 s[128]; mov.u32 %r1, s; and.b32 %r2, %r0, 31; shl.b32 %r2, %r2, 2; add.u32 %r1, %r1, %r2; "
     "setp.lt.u32 %p1, %r0, 32; @!%p1 bra $c; bar.arrive 1, 64; st.shared.u32 [%r1], %r0; bra $e; $c: bar.sync 1, 64; "
     "ld.shared.u32 %r3, [%r1]; $e:",
     "with no barrier in between", 64},
    {"BarrierInOneBranch", "setp.lt.u32 %p1, %r0, 16; @%p1 bra $a; bar.sync 0; bra $b; $a: bar.sync 0; $b:",
     "all threads of a warp have to reach the same barrier"},
    {"BarrierThatHalfTheBlockSkips", "setp.lt.u32 %p1, %r0, 32; @%p1 bar.sync 1; @!%p1 bar.sync 2;",
     "waits at barrier 1 for threads that never come", 64},
    {"BarrierForMoreThanThereAre", "bar.sync 1, 128;", "waits at barrier 1 for threads that never come", 64},
    {"ShuffleInOneBranch", "setp.lt.u32 %p1, %r0, 16; @%p1 bra $a; shfl.sync.idx.b32 %r1, %r0, 0, 31, -1; $a:",
     "takes the value of lane 0, which doesn't participate"},
    {"ShuffleOutsideItsMask", "shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xffff;",
     "is run by a lane that its member mask 0x0000ffff leaves out"},
    {"ShuffleOfWhoIsNotThere",
     "setp.lt.u32 %p1, %r0, 16; @!%p1 bra $a; shfl.sync.idx.b32 %r1, %r0, 20, 31, 0xffff; $a:",
     "takes the value of lane 20, which doesn't participate"},
    {"MisalignedRowOfAMatrix",
     ".shared .align 16 .b8 s[512]; mov.u32 %r1, s; shl.b32 %r2, %r0, 4; add.u32 %r1, %r1, %r2; setp.eq.u32 %p1, %r0, "
     "5; "
     "@%p1 add.u32 %r1, %r1, 8; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4, %r5, %r6}, [%r1];",
     "thread (5, 0, 0), PTX line 12: ldmatrix.sync.aligned.m8n8.x4.shared.b16 reads 16 bytes at 0x58, which is not a "
     "multiple of 16"},
    {"RowOfAMatrixBeyondTheEnd",
     ".shared .align 16 .b8 s[496]; mov.u32 %r1, s; shl.b32 %r2, %r0, 4; add.u32 %r1, %r1, %r2; "
     "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r3, %r4, %r5, %r6}, [%r1];",
     "thread (31, 0, 0), PTX line 12: ldmatrix.sync.aligned.m8n8.x4.shared.b16 reads 16 bytes at 0x1f0: the block has "
     "496"},
    {"MatrixThatAnotherThreadWrote",
     ".shared .align 16 .b8 s[512]; mov.u32 %r1, s; shl.b32 %r2, %r0, 4; add.u32 %r3, %r1, %r2; xor.b32 %r2, %r2, 16; "
     "add.u32 %r4, %r1, %r2; st.shared.v4.u32 [%r4], {%r0, %r0, %r0, %r0}; "
     "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r3];",
     "with no barrier in between"},
    {"ProductOfNeverWrittenShared",
     ".shared .align 16 .b8 s[512]; mov.u32 %r1, s; shl.b32 %r2, %r0, 4; add.u32 %r3, %r1, %r2; "
     "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r3]; mov.f32 %f1, 0f00000000; "
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r5, %r6, %r7, %r8}, {%r0, %r0}, {%f1, "
     "%f1, "
     "%f1, %f1}; add.s64 %rd3, %rd0, %rd20; st.global.f32 [%rd3], %f2;",
     "stores a value made from shared memory that nothing has written: PTX line 12 (ldmatrix"},
    {"ProductInOneBranch",
     "mov.f32 %f1, 0f00000000; setp.lt.u32 %p1, %r0, 16; @%p1 bra $a; "
     "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r0, %r0}, {%r0}, {%f1, %f1, %f1, %f1}; "
     "$a:",
     "needs all 32 lanes of the warp, and only 0xffff0000 run it"},
    {"ReadsACopyBeforeItWaits",
     ".shared .align 16 .b8 s[1024]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2; add.s64 %rd3, %rd0, "
     "%rd20; "
     "cp.async.ca.shared.global [%r1], [%rd3], 4; cp.async.commit_group; ld.shared.u32 %r3, [%r1]; cp.async.wait_group "
     "0;",
     "thread (0, 0, 0), PTX line 12: ld.shared.u32 reads 4 bytes of shared memory at 0x0 while the copy at PTX line 12 "
     "(cp.async.ca.shared.global) by thread (0, 0, 0) may still be writing there"},
    {"WaitsForTooFewCopies",
     ".shared .align 16 .b8 s[1024]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2; add.s64 %rd3, %rd0, "
     "%rd20; "
     "cp.async.ca.shared.global [%r1], [%rd3], 4; cp.async.commit_group; cp.async.ca.shared.global [%r1+128], [%rd3], "
     "4; cp.async.commit_group; cp.async.wait_group 1; "
     "ld.shared.u32 %r3, [%r1]; ld.shared.u32 %r4, [%r1+128];",
     "reads 4 bytes of shared memory at 0x80 while the copy"},
    {"CompareAndSwapBesideAPlainWrite",
     ".shared .align 4 .b8 s[4]; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [s], 0; ld.shared.u32 %r1, [s]; mov.u32 "
     "%r2, %r1; atom.shared.cas.b32 %r1, [s], %r2, 7;",
     "ld.shared.u32 reads 4 bytes of shared memory at 0x0, which thread (0, 0, 0) wrote at PTX line 12 (st.shared.u32) "
     "with no barrier in between"},
    {"WaitsForACopyThatIsInNoGroup",
     ".shared .align 4 .b8 s[128]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2; add.s64 %rd3, %rd0, "
     "%rd20; cp.async.ca.shared.global [%r1], [%rd3], 4; cp.async.wait_group 0; ld.shared.u32 %r3, [%r1];",
     "may still be writing there"},
    {"ReadsAnothersCopyWithoutABarrier",
     ".shared .align 16 .b8 s[1024]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2; add.s64 %rd3, %rd0, "
     "%rd20; "
     "cp.async.ca.shared.global [%r1], [%rd3], 4; cp.async.commit_group; cp.async.wait_all; xor.b32 %r2, %r2, 4; "
     "mov.u32 %r1, s; add.u32 %r1, %r1, %r2; ld.shared.u32 %r3, "
     "[%r1];",
     "with no barrier in between"},
    {"CopiesOverWhatOthersStillRead",
     ".shared .align 16 .b8 s[1024]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2; add.s64 %rd3, %rd0, "
     "%rd20; "
     "cp.async.ca.shared.global [%r1], [%rd3], 4; cp.async.commit_group; cp.async.wait_all; bar.sync 0; xor.b32 %r2, "
     "%r2, 128; mov.u32 %r4, s; add.u32 %r4, %r4, %r2; "
     "ld.shared.u32 %r3, [%r4]; cp.async.ca.shared.global [%r1], [%rd3], 4; cp.async.wait_all;",
     "with no barrier in between", 64},
    {"CopiesFromBehindTheEnd",
     ".shared .align 16 .b8 s[512]; mov.u32 %r1, s; shl.b32 %r2, %r0, 4; add.u32 %r1, %r1, %r2; mul.wide.u32 %rd4, "
     "%r0, "
     "16; add.s64 %rd3, %rd0, %rd4; cp.async.cg.shared.global [%r1], [%rd3], 16;",
     "thread (16, 0, 0), PTX line 12: cp.async.cg.shared.global reads 16 bytes at"},
    {"Trap", "setp.eq.u32 %p1, %r0, 3; @%p1 trap;", "thread (3, 0, 0), PTX line 12: trap was reached"},
};

class PlantedBugs : public testing::TestWithParam<Planted> {};

TEST_P(PlantedBugs, IsFound) {
  TestMemory memory;
  const uint64_t array = memory.Add(std::vector<uint32_t>(64, 1)), fresh = memory.Room(256),
                 bytes = memory.Add(std::vector<uint8_t>(10, 1));
  const std::string said =
      RunText(Kernel(3, GetParam().body, GetParam().before), memory, {array, fresh, bytes}, {1, GetParam().block});
  EXPECT_NE(said.find(GetParam().says), std::string::npos) << "it says: " << said;
  EXPECT_EQ(said.find("kernel k, block (0, 0, 0), thread ("), 0U) << said;
}
INSTANTIATE_TEST_SUITE_P(Kernels, PlantedBugs, testing::ValuesIn(kPlanted),
                         [](const auto& info) { return std::string(info.param.name); });

// The line of an inlined function is of little help without that of its call, and of the call around this one.
TEST(PlantedBug, TheLinesOfInlinedFunctions) {
  TestMemory memory;
  const uint64_t bytes = memory.Room(10);
  const std::string files = ".file 1 \"rows.cu\"\n.file 2 \"sums.h\"\n";
  const auto run = [&](const std::string& body) {
    return RunText(Kernel(1, ".shared .align 4 .b8 s[128];\n" + body, files), memory, {bytes}, {1, 64});
  };
  const std::string deep =
      ".loc 1 9 3\n.loc 1 4 5, function_name $L0, inlined_at 1 9 3\n.loc 2 7 1, function_name $L1, inlined_at 1 4 5\n";
  std::string said = run(deep + "st.global.u32 [%rd0+32], %r0;");
  EXPECT_NE(said.find("(sums.h:7, inlined at rows.cu:4, inlined at rows.cu:9): st.global.u32 writes"),
            std::string::npos)
      << said;
  said = run(deep +
             "st.shared.u32 [s], %r0;\n.loc 1 12 1\nbar.sync 0;\n.loc 1 4 5, function_name $L0, inlined_at 1 13 2\n"
             ".loc 2 7 1, function_name $L1, inlined_at 1 4 5\nld.shared.u32 %r1, [s];");
  EXPECT_NE(said.find("(sums.h:7, inlined at rows.cu:4, inlined at rows.cu:9) (st.shared.u32) with no barrier"),
            std::string::npos)
      << said;
  said = run(deep + "\n.loc 1 12 1\nst.global.u32 [%rd0+32], %r0;");
  EXPECT_NE(said.find("(rows.cu:12): st.global.u32 writes"), std::string::npos) << said;
  std::string many;
  for (int line = 20; line < 26; ++line)
    many +=
        ".loc 2 " + std::to_string(line + 1) + " 1, function_name $L0, inlined_at 2 " + std::to_string(line) + " 1\n";
  said = run(many + "st.global.u32 [%rd0+32], %r0;");
  EXPECT_NE(said.find("(sums.h:26, inlined at sums.h:25, inlined at sums.h:24, ..., inlined at sums.h:21, inlined at "
                      "sums.h:20): st"),
            std::string::npos)
      << said;
}

TEST(PlantedBug, AKernelThatNeverEndsIsStopped) {
  TestMemory memory;
  const std::string said = RunText(Kernel(0, "$again: bra $again;"), memory, {}, {1, 32, 0, 0.2});
  EXPECT_NE(said.find("is still being run after 0.2 seconds, the time limit"), std::string::npos) << said;
}

// Each block is over at once, and there are many.
TEST(PlantedBug, AGridThatTakesTooLong) {
  TestMemory memory;
  const std::string said = RunText(Kernel(0, ""), memory, {}, {1U << 30, 32, 0, 0.2});
  EXPECT_NE(said.find("is still being run after 0.2 seconds, the time limit"), std::string::npos) << said;
}

// Correct code that looks like a bug.
struct Right {
  const char* name;
  const char* body;
  uint32_t block = 32;
};
constexpr Right kRight[] = {
    {"AllLanesWriteTheSame", ".shared .align 4 .b8 s[4]; mov.u32 %r1, 7; st.shared.u32 [s], %r1;"},
    {"TwoWarpsWriteTheSame", ".shared .align 4 .b8 s[4]; mov.u32 %r1, 7; st.shared.u32 [s], %r1;", 64},
    {"NeverWrittenSharedThatIsThrownAway",
     ".shared .align 4 .b8 s[128]; ld.shared.u32 %r1, [s]; setp.eq.u32 %p1, %r0, 99; selp.u32 %r2, %r1, 5, %p1; "
     "setp.gt.u32 %p2, %r2, 3; @%p2 bra $a; $a:"},
    {"WithinAWarpWithSync",
     ".shared .align 4 .b8 s[128]; mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r3, %r1, %r2; st.shared.u32 [%r3], "
     "%r0; bar.warp.sync -1; xor.b32 %r4, %r2, 4; add.u32 %r4, %r1, %r4; ld.shared.u32 %r5, [%r4];"},
    {"BytesOfAWord",
     ".shared .align 4 .b8 s[64]; mov.u32 %r1, s; add.u32 %r1, %r1, %r0; st.shared.u8 [%r1], %r0; ld.shared.u8 %r2, "
     "[%r1];",
     64},
    {"AtomicsAmongThemselves",
     ".shared .align 4 .b8 s[4]; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [s], 0; bar.sync 0; red.shared.add.u32 "
     "[s], 1; bar.sync 0; ld.shared.u32 %r1, [s];",
     128},
    {"CompareAndSwapInALoop",
     ".shared .align 4 .b8 s[4]; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [s], 0; bar.sync 0; ld.shared.u32 %r1, "
     "[s]; $l: mov.u32 %r2, %r1; add.u32 %r3, %r2, 1; atom.shared.cas.b32 %r1, [s], %r2, %r3; setp.ne.u32 %p2, %r1, "
     "%r2; @%p2 bra $l; bar.sync 0; ld.shared.u32 %r1, [s];",
     128},
    {"SomeThreadsEndBefore", "setp.ge.u32 %p1, %r0, 40; @%p1 exit; bar.sync 0;", 64},
    {"SyncFromTwoPlaces", "setp.lt.u32 %p1, %r0, 16; @%p1 bra $a; bar.warp.sync -1; bra $b; $a: bar.warp.sync -1; $b:"},
    {"BarrierInALoop", "mov.u32 %r1, 0; $l: bar.sync 0; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 100; @%p1 bra $l;",
     96},
    {"ProducerAndConsumer",
     ".shared .align 4 .b8 s[128]; mov.u32 %r1, s; and.b32 %r2, %r0, 31; shl.b32 %r2, %r2, 2; add.u32 %r1, %r1, %r2; "
     "setp.lt.u32 %p1, %r0, 32; @!%p1 bra $c; st.shared.u32 [%r1], %r0; bar.arrive 1, 64; bra $e; $c: bar.sync 1, 64; "
     "ld.shared.u32 %r3, [%r1]; $e:",
     64},
    {"ProductWithRowsThatAreThrownAway",  // 8 rows of the tile are there; those of D that come from the others aren't stored
     ".shared .align 16 .b8 s[512]; mov.u32 %r1, s; shl.b32 %r2, %r0, 4; add.u32 %r3, %r1, %r2; and.b32 %r4, %r0, 8; "
     "setp.eq.u32 %p1, %r4, 0; @%p1 st.shared.v4.u32 [%r3], {%r0, %r0, %r0, %r0}; bar.warp.sync -1; "
     "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, [%r3]; mov.f32 %f1, 0f00000000; "
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f2, %f3, %f4, %f5}, {%r5, %r6, %r7, %r8}, {%r0, %r0}, {%f1, "
     "%f1, "
     "%f1, %f1}; setp.gt.f32 %p2, %f2, %f3; @%p2 bra $a; $a:"},
    {"OneThreadUpdatesWhatAllHaveRead",
     ".shared .align 4 .b8 s[4]; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [s], %r0; bar.sync 0; ld.shared.u32 %r1, "
     "[s]; bar.sync 0; @%p1 ld.shared.u32 %r1, [s]; @%p1 add.u32 %r1, %r1, 1; @%p1 st.shared.u32 [s], %r1;",
     96},
    {"WarpsThatAPartialBarrierJoins",
     ".shared .align 4 .b8 s[4]; setp.ge.u32 %p2, %r0, 64; @%p2 bra $e; setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 "
     "[s], %r0; bar.sync 1, 64; ld.shared.u32 %r1, [s]; bar.sync 1, 64; @%p1 st.shared.u32 [s], %r1; $e:",
     96},
};
class RightKernels : public testing::TestWithParam<Right> {};
TEST_P(RightKernels, RaisesNoAlarm) {
  TestMemory memory;
  EXPECT_EQ(RunText(Kernel(0, GetParam().body), memory, {}, {2, GetParam().block}), "");
}
INSTANTIATE_TEST_SUITE_P(Kernels, RightKernels, testing::ValuesIn(kRight),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace kernpack::emulator
