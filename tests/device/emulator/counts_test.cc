// The counts of a launch: how often instructions run, sectors of global memory, passes of shared memory, arithmetic.
#include "exec/counts.h"

#include "program/work.h"
#include "support.h"

namespace kernpack::emulator {
namespace {

struct Counted {
  Program program;
  Counts counts;
  explicit Counted(Program taken) : program(std::move(taken)), counts(program) {}

  // Of the statement whose mnemonic begins so, which there is one of.
  size_t Statement(const std::string& op) const {
    size_t found = program.sources.size();
    for (size_t i = 0; i < program.sources.size(); ++i) {
      if (program.sources[i].op.rfind(op, 0) != 0) continue;
      EXPECT_EQ(found, program.sources.size()) << "more than one " << op;
      found = i;
    }
    EXPECT_LT(found, program.sources.size()) << "no " << op;
    return found;
  }
  Moved Global(const std::string& op) const { return counts.global[Statement(op)]; }
  Moved Shared(const std::string& op) const { return counts.shared[Statement(op)]; }
  Runs Ran(const std::string& op) const { return counts.RunsOfSources(program)[Statement(op)]; }
};

// Parameter 0 is an array of 4096 words; rd20 is 4 * tid.
Counted Count(const std::string& body, uint32_t block = 32, uint32_t grid = 1, uint32_t workers = 1) {
  TestMemory memory;
  const uint64_t words = memory.Add(std::vector<uint32_t>(4096));
  Counted counted(Assemble(Kernel(1, body)));
  Launch launch;
  launch.program = &counted.program;
  launch.grid[0] = grid;
  launch.block[0] = block;
  launch.memory = &memory;
  launch.parameters = reinterpret_cast<const uint8_t*>(&words);
  launch.workers = workers;
  launch.counts = &counted.counts;
  Run(launch);
  return counted;
}

void ExpectMoved(const Moved& moved, uint64_t bytes, uint64_t units, uint64_t least) {
  EXPECT_EQ(moved.bytes, bytes);
  EXPECT_EQ(moved.units, units);
  EXPECT_EQ(moved.least, least);
}

TEST(Counts, NeighboursShareSectors) {
  const Counted counted =
      Count("add.s64 %rd1, %rd0, %rd20; ld.global.u32 %r1, [%rd1]; st.global.u32 [%rd1+2048], %r1;", 64);
  ExpectMoved(counted.Global("ld.global"), 256, 8, 8);
  ExpectMoved(counted.Global("st.global"), 256, 8, 8);
  EXPECT_EQ(counted.counts.read.count(), 8U);
  EXPECT_EQ(counted.counts.written.count(), 8U);
}

TEST(Counts, AStrideTakesASectorForEachThread) {
  const Counted counted = Count("shl.b64 %rd1, %rd20, 4; add.s64 %rd1, %rd0, %rd1; ld.global.u32 %r1, [%rd1];");
  ExpectMoved(counted.Global("ld.global"), 128, 32, 4);
}

TEST(Counts, ASectorThatBeginsEarlierIsOneMore) {
  const Counted counted = Count("add.s64 %rd1, %rd0, %rd20; ld.global.u32 %r1, [%rd1+4];");
  ExpectMoved(counted.Global("ld.global"), 128, 5, 4);
}

TEST(Counts, OneWordForAllIsOneSector) {
  ExpectMoved(Count("ld.global.u32 %r1, [%rd0];").Global("ld.global"), 128, 1, 1);
}

TEST(Counts, WhatIsTouchedAgainIsTouchedOnce) {
  const Counted counted = Count("ld.global.u32 %r1, [%rd0]; red.global.add.u32 [%rd0+4], 1;", 64, 6, 3);
  EXPECT_EQ(counted.counts.read.count(), 1U);  // by all blocks, of several workers
  EXPECT_EQ(counted.counts.written.count(), 1U);
  ExpectMoved(counted.Global("red"), 64 * 6 * 4, 12, 12);
  EXPECT_EQ(counted.Ran("ld.global").warps, 12U);
  EXPECT_EQ(counted.Ran("ld.global").threads, 64 * 6U);
}

// A stride of 4 * `words` bytes: how many passes a load takes.
uint64_t PassesOfStride(uint32_t words) {
  const std::string stride = std::to_string(4 * words);
  const Counted counted = Count(".shared .align 16 .b8 s[8192]; mov.u32 %r1, s; mad.lo.u32 %r1, %r0, " + stride +
                                ", %r1; ld.shared.u32 %r2, [%r1];");
  EXPECT_EQ(counted.Shared("ld.shared").least, 1U);
  EXPECT_EQ(counted.Shared("ld.shared").bytes, 128U);
  return counted.Shared("ld.shared").units;
}

TEST(Counts, WordsOfOneBankFollowEachOther) {
  EXPECT_EQ(PassesOfStride(0), 1U);  // all read the same word
  EXPECT_EQ(PassesOfStride(1), 1U);
  EXPECT_EQ(PassesOfStride(2), 2U);
  EXPECT_EQ(PassesOfStride(3), 1U);
  EXPECT_EQ(PassesOfStride(32), 32U);
  EXPECT_EQ(PassesOfStride(33), 1U);
}

TEST(Counts, WideAccessesGoByPartsOfAWarp) {
  const Counted counted = Count(
      ".shared .align 16 .b8 s[512]; mov.u32 %r1, s; mad.lo.u32 %r1, %r0, 16, %r1; ld.shared.v4.u32 {%r2, %r3, %r4, "
      "%r5}, [%r1];");
  ExpectMoved(counted.Shared("ld.shared"), 512, 4, 4);
}

TEST(Counts, CopiesMoveBothMemories) {
  const Counted counted = Count(
      ".shared .align 16 .b8 s[512]; mov.u32 %r1, s; mad.lo.u32 %r1, %r0, 16, %r1; mul.wide.u32 %rd1, %r0, 16; "
      "add.s64 %rd1, %rd0, %rd1; cp.async.cg.shared.global [%r1], [%rd1], 16; cp.async.wait_all;");
  ExpectMoved(counted.Global("cp.async.cg"), 512, 16, 16);
  ExpectMoved(counted.Shared("cp.async.cg"), 512, 4, 4);
}

TEST(Counts, WhatTheGuardLeavesOutDoesNotRun) {
  const Counted counted = Count(
      "setp.lt.u32 %p1, %r0, 5; @%p1 add.f32 %f1, %f1, %f2; setp.gt.u32 %p2, %r0, 40; @%p2 "
      "mul.f32 %f1, %f1, %f2;");
  EXPECT_EQ(counted.Ran("add.f32").threads, 5U);
  EXPECT_EQ(counted.Ran("mul.f32").warps, 0U);
}

TEST(Counts, ArithmeticByMnemonic) {
  const auto expect = [](const char* op, const char* unit, uint32_t of_thread, uint32_t of_warp = 0) {
    const ArithmeticWork work = GetWork(op);
    EXPECT_EQ(work.unit, unit) << op;
    EXPECT_EQ(work.of_thread, of_thread) << op;
    EXPECT_EQ(work.of_warp, of_warp) << op;
  };
  expect("add.f32", "f32", 1);
  expect("fma.rn.ftz.f32", "f32", 2);
  expect("fma.rn.bf16x2", "bf16", 4);
  expect("mul.f64", "f64", 1);
  expect("ex2.approx.ftz.f32", "special", 1);
  expect("div.rn.f32", "special", 1);
  expect("mad.lo.s32", "", 0);
  expect("max.f32", "", 0);
  expect("mov.b32", "", 0);
  expect("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "matrix_bf16", 0, 4096);
  expect("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16", "matrix_bf16", 0, 2 * 16 * 128 * 16);
  expect("wgmma.fence.sync.aligned", "", 0, 0);
  expect("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32", "matrix_s8", 0, 8192);
}

}  // namespace
}  // namespace kernpack::emulator
