// Warps whose lanes act in tiles, warps that spin while others meet, and the names that PTX gives to a warp.
#include "support.h"

namespace kernpack::emulator {
namespace {

constexpr Shape kFourWarps{1, 128};

std::vector<uint32_t> Out(const std::string& body, Shape shape = {}) {
  TestMemory memory;
  const uint64_t out = memory.Room(uint64_t{4} * shape.block);
  const std::string text = Kernel(1, body + "add.s64 %rd5, %rd0, %rd20; st.global.u32 [%rd5], %r20;");
  EXPECT_EQ(RunText(text, memory, {out}, shape), "");
  return memory.Read<uint32_t>(out, shape.block);
}

// %r4: 0xffff for the lanes below 16, 0xffff0000 for the others, as cooperative_groups::tiled_partition<16> has it.
const std::string kTiles = "and.b32 %r2, %r0, 31; and.b32 %r3, %r0, 16; mov.u32 %r4, 65535; shl.b32 %r4, %r4, %r3;";

TEST(Warps, TilesHaveMemberMasksOfTheirOwn) {
  const std::string sum =
      "mov.u32 %r20, %r2; mov.u32 %r5, 8; $again: shfl.sync.down.b32 %r6|%p1, %r20, %r5, 4127, %r4; add.u32 %r20, "
      "%r20, %r6; shr.u32 %r5, %r5, 1; setp.ne.u32 %p2, %r5, 0; @%p2 bra $again;";
  const std::vector<uint32_t> out = Out(kTiles + sum);
  EXPECT_EQ(out[0], 120);
  EXPECT_EQ(out[16], 376);
}

TEST(Warps, TilesVoteByThemselves) {
  const std::vector<uint32_t> out =
      Out(kTiles +
          "setp.gt.u32 %p1, %r2, 20; vote.sync.ballot.b32 %r20, %p1, %r4; @%p1 redux.sync.add.u32 %r20, %r2, "
          "0xffe00000;");
  for (uint32_t l = 0; l < 32; ++l) EXPECT_EQ(out[l], l < 16 ? 0 : l <= 20 ? 0xffe00000 : 286) << l;
}

TEST(Warps, TilesMeetByThemselves) {
  const std::string body =
      ".shared .align 4 .b32 s[32]; mov.u32 %r6, s; shl.b32 %r7, %r0, 2; add.u32 %r8, %r6, %r7; st.shared.u32 [%r8], "
      "%r0; bar.warp.sync %r4; xor.b32 %r7, %r7, 4; add.u32 %r8, %r6, %r7; ld.shared.u32 %r20, [%r8];";
  const std::vector<uint32_t> out = Out(kTiles + body);
  for (uint32_t l = 0; l < 32; ++l) EXPECT_EQ(out[l], l ^ 1) << l;
}

TEST(Warps, ALaneHasToBeOneOfItsMembers) {
  TestMemory memory;
  const uint64_t out = memory.Room(128);
  const std::string said =
      RunText(Kernel(1, kTiles + "not.b32 %r4, %r4; vote.sync.ballot.b32 %r20, 1, %r4;"), memory, {out});
  EXPECT_NE(said.find("vote.sync.ballot.b32 is run by a lane that its member mask 0xffff0000 leaves out"),
            std::string::npos)
      << said;
}

// Warps 1 and 2 meet at barrier 1; warp 1 then lets warp 0 go, which has spun since the beginning.
TEST(Warps, BarriersOpenWhileAnotherWarpSpins) {
  const std::string body =
      ".shared .align 8 .b64 full; shr.u32 %r1, %r0, 5; setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 "
      "[full], 32; bar.sync 0; mov.u32 %r20, %r1; setp.eq.u32 %p2, %r1, 3; @%p2 bra $end; setp.eq.u32 %p3, %r1, 0; "
      "@%p3 bra $spin; bar.sync 1, 64; setp.eq.u32 %p4, %r1, 1; @%p4 mbarrier.arrive.shared.b64 %rd9, [full]; bra "
      "$end;\n$spin: mbarrier.test_wait.parity.shared.b64 %p5, [full], 0; @!%p5 bra $spin; mov.u32 %r20, 9;\n$end:";
  const std::vector<uint32_t> out = Out(body, kFourWarps);
  for (uint32_t t = 0; t < 128; ++t) EXPECT_EQ(out[t], t < 32 ? 9 : t / 32) << t;
}

TEST(Warps, TheSizeOfAWarpHasAName) { EXPECT_EQ(Out("add.u32 %r20, %r0, WARP_SZ;")[3], 35); }

TEST(Warps, OnePartOfAPairOfResultsMayBeDropped) {
  const std::vector<uint32_t> out =
      Out("elect.sync _|%p1, 0xffffffff; selp.u32 %r20, 1, 0, %p1; elect.sync %r4|_, 0xffffffff; add.u32 %r20, %r20, "
          "%r4;");
  for (uint32_t l = 0; l < 32; ++l) EXPECT_EQ(out[l], l == 0 ? 1 : 0) << l;
}

TEST(Warps, DynamicSharedMemoryLiesAsItsDeclarationSays) {
  for (const auto& [align, place] : {std::pair{4, 48U}, {16, 48U}, {1024, 1024U}}) {
    TestMemory memory;
    const uint64_t out = memory.Room(128);
    const std::string before = ".extern .shared .align " + std::to_string(align) + " .b8 dynamic[];\n";
    const std::string body =
        ".shared .align 8 .b8 first[40]; mov.u32 %r1, first; mov.u32 %r2, dynamic; sub.u32 %r2, %r2, %r1; "
        "st.global.u32 "
        "[%rd0], %r2;";
    ASSERT_EQ(RunText(Kernel(1, body, before), memory, {out}, {1, 1, 64}), "");
    EXPECT_EQ(memory.Read<uint32_t>(out, 1)[0], place) << align;
  }
}

std::string Race(const std::string& body) {
  TestMemory memory;
  const uint64_t out = memory.Room(4 * 128);
  return RunText(Kernel(1,
                        ".shared .align 4 .b32 s[32]; mov.u32 %r6, s; and.b32 %r2, %r0, 31; shl.b32 %r7, %r2, 2; "
                        "add.u32 %r8, %r6, %r7; shr.u32 %r1, %r0, 5;\n" +
                            body),
                 memory, {out}, kFourWarps);
}

// Several warps set a table to zero: whichever comes last, zero is there.
TEST(Warps, OneValueWrittenTwiceIsNoRace) {
  EXPECT_EQ(Race("mov.u32 %r3, 0; st.shared.u32 [%r8], %r3; bar.sync 0; ld.shared.u32 %r20, [%r8];"), "");
  EXPECT_EQ(Race("mov.u32 %r3, 0; st.shared.u32 [%r6], %r3; bar.sync 0; ld.shared.u32 %r20, [%r6];"), "");
}

TEST(Warps, TwoValuesOfOneWordAreARace) {
  const std::string said = Race("st.shared.u32 [%r8], %r1;");
  EXPECT_NE(said.find("which thread (0, 0, 0) wrote"), std::string::npos) << said;
}

// Of many readers the warp is known, and not which of its threads.
TEST(Warps, ARaceWithAReaderNamesItsWarpWhereTheThreadIsUnknown) {
  const std::string said = Race(
      "setp.eq.u32 %p1, %r0, 0; @%p1 st.shared.u32 [%r6], %r0; bar.sync 0; setp.eq.u32 "
      "%p2, %r1, 3; @!%p2 ld.shared.u32 %r20, [%r6]; setp.eq.u32 %p3, %r0, 96; @%p3 st.shared.u32 [%r6], %r0;");
  EXPECT_NE(said.find("which a thread of the warp that begins with thread (0, 0, 0) read"), std::string::npos) << said;
}

}  // namespace
}  // namespace kernpack::emulator
