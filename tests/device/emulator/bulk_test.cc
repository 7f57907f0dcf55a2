// cp.async.bulk: between global and shared memory, told of by an mbarrier.
#include "support.h"

namespace kernpack::emulator {
namespace {

// The first of 64 threads begins; %p8: another thread. %r3 is the mbarrier, of one arrival, s the buffer of 256 bytes.
std::string WithBulk(int parameters, const std::string& body) {
  return Kernel(
      parameters,
      ".shared .align 8 .b64 full; .shared .align 128 .b8 s[256]; mov.u32 %r3, full; mov.u32 %r6, s; mul.lo.u32 "
      "%r5, %r0, 4; add.u32 %r5, %r5, %r6; setp.ne.u32 %p8, %r0, 0; @!%p8 mbarrier.init.shared.b64 [full], 1; "
      "bar.sync 0;\n" +
          body);
}
const std::string kCopy =
    "@%p8 bra $wait; mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [full], 256; "
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 256, [%r3];\n";
const std::string kAwait = "$wait: mbarrier.try_wait.parity.shared.b64 %p1, [full], 0; @!%p1 bra $wait;\n";
const std::string kUse = "ld.shared.u32 %r20, [%r5]; add.s64 %rd5, %rd0, %rd20; st.global.u32 [%rd5], %r20;";

std::vector<uint32_t> Words() {
  std::vector<uint32_t> out(64);
  for (uint32_t i = 0; i < 64; ++i) out[i] = 3 * i + 1;
  return out;
}
std::string RunBulk(const std::string& body, Shape shape = {1, 64}) {
  TestMemory memory;
  const uint64_t out = memory.Room(256), in = memory.Add(Words());
  return RunText(WithBulk(2, body), memory, {out, in}, shape);
}

TEST(Bulk, CopiesIntoSharedMemory) {
  TestMemory memory;
  const uint64_t out = memory.Room(256), in = memory.Add(Words());
  ASSERT_EQ(RunText(WithBulk(2, kCopy + kAwait + kUse), memory, {out, in}, {1, 64}), "");
  EXPECT_EQ(memory.Read<uint32_t>(out, 64), Words());
}

// The phase before the first counts as ended: such a wait is over at once, and nothing has arrived.
TEST(Bulk, AWaitForTheWrongPhaseDoesNotWait) {
  const std::string wrong = "$wait: mbarrier.try_wait.parity.shared.b64 %p1, [full], 1; @!%p1 bra $wait;\n";
  const std::string said = RunBulk(kCopy + wrong + kUse);
  EXPECT_NE(said.find("ld.shared.u32 reads"), std::string::npos) << said;
}

TEST(Bulk, CopiesOutOfSharedMemory) {
  TestMemory memory;
  const uint64_t out = memory.Room(256);
  const std::string body =
      "st.shared.u32 [%r5], %r0; fence.proxy.async.shared::cta; bar.sync 0; @%p8 exit; add.s64 %rd1, %rd0, 16; mov.u32 "
      "%r7, 240; cp.async.bulk.global.shared::cta.bulk_group [%rd1], [s+16], %r7; cp.async.bulk.commit_group; "
      "cp.async.bulk.wait_group.read 0;";
  ASSERT_EQ(RunText(WithBulk(1, body), memory, {out}, {1, 64}), "");
  const auto found = memory.Read<uint32_t>(out + 16, 60);
  for (uint32_t i = 0; i < 60; ++i) EXPECT_EQ(found[i], i + 4);
}

// Each block of a cluster sends its part to the other's second half, whose mbarrier tells of it.
TEST(Bulk, CopiesToAnotherBlockOfACluster) {
  TestMemory memory;
  const uint64_t out = memory.Room(512);
  const std::string body =
      "mov.u32 %r8, %cluster_ctarank; mad.lo.u32 %r9, %r8, 1000, %r0; setp.lt.u32 %p3, %r0, 32; @%p3 st.shared.u32 "
      "[%r5], %r9; xor.b32 %r10, %r8, 1; mapa.shared::cluster.u32 %r11, s, %r10; mapa.shared::cluster.u32 %r12, full, "
      "%r10; @!%p8 mbarrier.arrive.expect_tx.shared.b64 _, [full], 128; fence.proxy.async.shared::cta; "
      "barrier.cluster.arrive; "
      "barrier.cluster.wait; @%p8 bra $wait; cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
      "[%r11+128], [s], 128, "
      "[%r12];\n" +
      kAwait +
      "barrier.cluster.arrive; barrier.cluster.wait; ld.shared.u32 %r20, [%r5]; mul.wide.u32 %rd2, %r8, 256; add.s64 "
      "%rd2, %rd2, %rd0; add.s64 %rd2, %rd2, %rd20; st.global.u32 [%rd2], %r20;";
  ASSERT_EQ(RunText(WithBulk(1, body), memory, {out}, {2, 64, 0, 20, 0, 2}), "");
  const auto found = memory.Read<uint32_t>(out, 128);
  for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(found[i], (i / 64 ^ (i % 64 / 32)) * 1000 + i % 32) << i;
}

class BulkBugs : public testing::TestWithParam<Mistake> {};
TEST_P(BulkBugs, AreFound) {
  const std::string said = RunBulk(GetParam().body);
  EXPECT_NE(said.find(GetParam().said), std::string::npos) << said;
}
std::string One(const char* instruction) { return "@%p8 exit;" + std::string(instruction); }
INSTANTIATE_TEST_SUITE_P(
    Kernels, BulkBugs,
    testing::Values(
        Mistake{"ReadByItsThreadAtOnce", kCopy + "ld.shared.u32 %r20, [%r5];\n" + kAwait,
                "its mbarrier says when it has arrived"},
        Mistake{"NobodyWaits", kCopy + "$wait:", "nobody has waited for when the block ends"},
        Mistake{"OthersReadWithoutWaiting",
                "@%p8 bra $others; mbarrier.arrive.expect_tx.shared.b64 _, [full], 256; "
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%rd1], 256, [full];\n" +
                    kAwait + "$others: ld.shared.u32 %r20, [%r5];",
                "cp.async.bulk"},
        Mistake{"NoMBarrier",
                One("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [%rd1], 256, [s];"),
                "names memory that isn't an mbarrier"},
        Mistake{"BeyondTheSource",
                One("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [%rd1+16], 256, [full];"),
                "no allocation is there"},
        Mistake{"BeyondTheBuffer",
                One("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s+16], [%rd1], 256, [full];"),
                "bytes of shared memory"},
        Mistake{"SizeIsNoMultiple",
                One("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [%rd1], 40, [full];"),
                "copies 40 bytes, which is not a multiple of 16"},
        Mistake{"AddressIsNoMultiple",
                One("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [s], [%rd1+8], 16, [full];"),
                "which is not a multiple of 16"},
        Mistake{"SourceUnwritten", One("cp.async.bulk.global.shared::cta.bulk_group [%rd0], [s], 32;"),
                "copies shared memory that nothing has written"}),
    GetName);

}  // namespace
}  // namespace kernpack::emulator
