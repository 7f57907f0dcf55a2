// Blocks of one thread take a way of their own through the emulator: what they compute, and what stops them, is the same.
#include "support.h"

namespace kernpack::emulator {
namespace {

constexpr Shape kOneThread{1, 1};

std::string RunOne(const std::string& body, const TestMemory& memory, const std::vector<uint64_t>& parameters,
                   Shape shape = kOneThread) {
  return RunText(Kernel(static_cast<int>(parameters.size()), body), memory, parameters, shape);
}

// sum += i % 3 == 0 ? i : -1, by guards of both senses and a jump back.
TEST(OneThread, LoopsUnderGuards) {
  TestMemory memory;
  const uint64_t out = memory.Room(4);
  const std::string loop =
      "mov.u32 %r1, 0; mov.u32 %r2, 0;\n$next: rem.u32 %r3, %r1, 3; setp.eq.u32 %p1, %r3, 0;\n"
      "@%p1 add.u32 %r2, %r2, %r1; @!%p1 sub.u32 %r2, %r2, 1;\n"
      "add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 100000; @%p2 bra $next; st.global.u32 [%rd0], %r2;";
  ASSERT_EQ(RunOne(loop, memory, {out}), "");
  uint32_t expected = 0;
  for (uint32_t i = 0; i < 100000; ++i) expected += i % 3 == 0 ? i : ~0U;
  EXPECT_EQ(memory.Read<uint32_t>(out, 1)[0], expected);
}

TEST(OneThread, NarrowValuesFillWideRegisters) {
  TestMemory memory;
  const uint64_t in = memory.Add(std::vector<uint8_t>{0x80, 0xff, 0x01, 0x90}), out = memory.Room(40);
  ASSERT_EQ(RunOne("ld.global.s8 %rd2, [%rd0]; st.global.u64 [%rd1], %rd2; ld.global.u8 %rd2, [%rd0]; st.global.u64 "
                   "[%rd1+8], %rd2; ld.s16 %rd2, [%rd0+2]; st.u64 [%rd1+16], %rd2; ld.u32 %rd2, [%rd0]; st.u64 "
                   "[%rd1+24], %rd2; st.global.u16 [%rd1+32], %rd2;",
                   memory, {in, out}),
            "");
  const std::vector<uint64_t> expected = {0xffffffffffffff80U, 0x80, 0xffffffffffff9001U, 0x9001ff80};
  EXPECT_EQ(memory.Read<uint64_t>(out, 4), expected);
  EXPECT_EQ(memory.Read<uint16_t>(out + 32, 1)[0], 0xff80);
}

// Instructions for a warp or a block, in between; a grid of such blocks.
TEST(OneThread, MeetsOnlyItself) {
  TestMemory memory;
  const uint64_t out = memory.Room(4 * 100);
  const std::string body =
      "mov.u32 %r1, %ctaid.x; mov.u32 %r5, 0;\n$next: bar.sync 0; shfl.sync.idx.b32 %r2, %r1, 0, 31, 1; bar.warp.sync "
      "1; vote.sync.ballot.b32 %r3, 1, 1; add.u32 %r4, %r2, %r3; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 3; @%p1 "
      "bra $next; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd1, %rd1, %rd0; st.global.u32 [%rd1], %r4; setp.ge.u32 %p2, "
      "%r1, 50; @%p2 exit; add.u32 %r4, %r4, %r5; st.global.u32 [%rd1], %r4;";
  ASSERT_EQ(RunOne(body, memory, {out}, {100, 1}), "");
  const auto found = memory.Read<uint32_t>(out, 100);
  for (uint32_t i = 0; i < 100; ++i) EXPECT_EQ(found[i], i + 1 + (i < 50 ? 3 : 0)) << i;
}

TEST(OneThread, FaultsAreNamed) {
  TestMemory memory;
  const uint64_t in = memory.Add(std::vector<uint32_t>(4)), out = memory.Room(64);
  struct Case {
    const char *body, *said;
  } cases[] = {
      {"ld.global.u32 %r1, [%rd0+16];", "no allocation is there"},
      {"st.global.u64 [%rd0+16], %rd0;", "no allocation is there"},
      {"ld.global.v2.u32 {%r1, %r2}, [%rd0+12];", "not a multiple of 8"},
      {"ld.global.u32 %r1, [%rd0+2];", "not a multiple of 4"},
      {"st.global.u32 [%rd1], %r0; ld.global.v2.u32 {%r1, %r2}, [%rd1];", "nothing has written"},
      {".shared .b32 s[2]; ld.shared.u32 %r1, [s]; add.u32 %r1, %r1, 1; st.global.u32 [%rd1], %r1;",
       "nothing has written"},
      {"ld.param.u32 %r1, [p0]; trap;", "trap"},
  };
  for (const Case& one : cases) {
    const std::string said = RunOne(one.body, memory, {in, out});
    EXPECT_NE(said.find(one.said), std::string::npos) << one.body << "\n" << said;
  }
  EXPECT_EQ(memory.Read<uint32_t>(in, 4), std::vector<uint32_t>(4));
}

TEST(OneThread, OneThatNeverEndsIsStopped) {
  TestMemory memory;
  EXPECT_NE(RunOne("$again: add.u32 %r1, %r1, 1; bra $again;", memory, {}, {1, 1, 0, 0.05}).find("still being run"),
            std::string::npos);
}

}  // namespace
}  // namespace kernpack::emulator
