// Blocks of a cluster: what they exchange through their shared memory, and what they must not do with it.
#include "support.h"

namespace kernpack::emulator {
namespace {

constexpr Shape kTwoOfFour{8, 64, 0, 20, 0, 4};

// Parameters p0.. are in %rd0..; %r2 is the block's rank, %r3 the next block's, %r4 the address of `s` there.
std::string Cluster(int parameters, const std::string& body) {
  return Kernel(
      parameters,
      ".shared .align 4 .b32 s[64]; mov.u32 %r2, %cluster_ctarank; mov.u32 %r5, %cluster_nctarank; add.u32 %r3, "
      "%r2, 1; rem.u32 %r3, %r3, %r5; mapa.shared::cluster.u32 %r4, s, %r3; mov.u32 %r6, %ctaid.x; mul.lo.u32 "
      "%r7, %r6, 64; add.u32 %r7, %r7, %r0; mul.wide.u32 %rd10, %r7, 4; mul.lo.u32 %r8, %r0, 4; mov.u32 %r9, "
      "s; add.u32 %r9, %r9, %r8; add.u32 %r10, %r4, %r8;\n" +
          body);
}
const std::string kMeet = "barrier.cluster.arrive; barrier.cluster.wait;";
const std::string kOut = "add.s64 %rd11, %rd0, %rd10; st.global.u32 [%rd11], %r20;";

std::string RunCluster(const std::string& body, Shape shape = kTwoOfFour) {
  TestMemory memory;
  const uint64_t out = memory.Room(4 * 64 * 8);
  return RunText(Cluster(1, body), memory, {out}, shape);
}

TEST(Clusters, ABlockReadsWhatTheNextOneWrote) {
  for (const char* load : {"ld.shared::cluster.u32 %r20, [%r10];",
                           "cvt.u64.u32 %rd5, %r9; cvta.shared.u64 %rd5, %rd5; mapa.u64 %rd6, %rd5, %r3; ld.u32 %r20, "
                           "[%rd6];",
                           "cvt.u64.u32 %rd5, %r10; cvta.shared::cluster.u64 %rd5, %rd5; ld.u32 %r20, [%rd5];"}) {
    TestMemory memory;
    const uint64_t out = memory.Room(4 * 64 * 8);
    ASSERT_EQ(RunText(Cluster(1, "st.shared.u32 [%r9], %r7;" + kMeet + load + kMeet + kOut), memory, {out}, kTwoOfFour),
              "");
    const auto found = memory.Read<uint32_t>(out, 64 * 8);
    for (uint32_t i = 0; i < found.size(); ++i) {
      const uint32_t block = i / 64, next = block / 4 * 4 + (block + 1) % 4;
      ASSERT_EQ(found[i], next * 64 + i % 64) << i << load;
    }
  }
}

TEST(Clusters, StoresAndAtomicsReachOtherBlocks) {
  TestMemory memory;
  const uint64_t out = memory.Room(4 * 64 * 8);
  ASSERT_EQ(
      RunText(Cluster(1, "st.shared.u32 [%r9], %r0;" + kMeet +
                             "red.shared::cluster.add.u32 [%r10], 1000; atom.shared::cluster.add.u32 %r21, [%r10], "
                             "%r3;" +
                             kMeet + "st.shared::cluster.u32 [%r10], 7;" + kMeet + "ld.shared.u32 %r20, [%r9];" +
                             kMeet + "add.u32 %r20, %r20, %r21;" + kOut),
              memory, {out}, kTwoOfFour),
      "");
  const auto found = memory.Read<uint32_t>(out, 64 * 8);
  for (uint32_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], i % 64 + 1000 + 7) << i;
}

// The first thread makes an mbarrier; the fence orders that, and nothing else, before an arrival that orders nothing.
TEST(Clusters, AFenceOfMbarriersOrdersThemBeforeARelaxedArrival) {
  const auto run = [](const std::string& fence, const std::string& use) {
    return RunCluster(
        ".shared .align 8 .b64 full; setp.eq.u32 %p1, %r0, 0; @%p1 mbarrier.init.shared.b64 [full], 256;" + fence +
        "barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;" + use + "mov.u32 %r20, 0;" +
        kMeet + kOut);
  };
  const std::string arrive = "mapa.shared::cluster.u32 %r21, full, 0; mbarrier.arrive.shared::cluster.b64 _, [%r21];";
  EXPECT_EQ(run("fence.mbarrier_init.release.cluster;", arrive), "");
  const std::string said = run("", arrive);
  EXPECT_NE(said.find("uses an mbarrier that thread (0, 0, 0)"), std::string::npos) << said;
}

TEST(Clusters, RanksAndAddressesAreNamed) {
  TestMemory memory;
  const uint64_t out = memory.Room(4 * 64 * 8);
  // 1 for a shared address of the block, 2 for one of the cluster, 10 * rank of the address, 100 * cluster, 1000 * clusters.
  const std::string body =
      "cvt.u64.u32 %rd5, %r10; cvta.shared.u64 %rd5, %rd5; isspacep.shared %p1, %rd5; isspacep.shared::cluster %p2, "
      "%rd5; selp.u32 %r20, 1, 0, %p1; @%p2 add.u32 %r20, %r20, 2; getctarank.u64 %r21, %rd5; mad.lo.u32 %r20, %r21, "
      "10, %r20; mov.u32 %r22, %clusterid.x; mad.lo.u32 %r20, %r22, 100, %r20; mov.u32 %r23, %nclusterid.x; mad.lo.u32 "
      "%r20, %r23, 1000, %r20; getctarank.shared::cluster.u32 %r24, %r9; setp.ne.u32 %p3, %r24, %r2; @%p3 trap;";
  ASSERT_EQ(RunText(Cluster(1, body + kOut), memory, {out}, kTwoOfFour), "");
  const auto found = memory.Read<uint32_t>(out, 64 * 8);
  for (uint32_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(found[i], 2 + 10 * ((i / 64 + 1) % 4) + 100 * (i / 256) + 2000) << i;
}

// The barrier is of threads that arrive, whatever they do before they wait; who has ended has arrived.
TEST(Clusters, ArrivesAndWaitsApart) {
  EXPECT_EQ(RunCluster("st.shared.u32 [%r9], %r0; barrier.cluster.arrive.release; bar.sync 0; "
                       "barrier.cluster.wait.acquire; ld.shared::cluster.u32 %r20, [%r10];" +
                       kMeet + kOut),
            "");
  EXPECT_EQ(RunCluster("setp.eq.u32 %p1, %r2, 3; @%p1 exit;" + kMeet + kMeet), "");
  EXPECT_EQ(RunCluster("and.b32 %r20, %r0, 1; setp.eq.u32 %p1, %r20, 0; @%p1 bra $even; " + kMeet +
                       "bra $end; $even: " + kMeet + "$end: bar.warp.sync -1;"),
            "");
}

// Whole blocks read a word that others write later, in many blocks with much memory.
TEST(Clusters, RacesAreTrackedInLargeGrids) {
  TestMemory memory;
  const std::string body =
      ".shared .b32 one; setp.ne.u32 %p1, %r0, 0; @!%p1 st.shared.u32 [one], %r0; bar.sync 0; ld.shared.u32 %r1, "
      "[one]; "
      "bar.sync 0; @!%p1 st.shared.u32 [one], 7;";
  EXPECT_EQ(RunText(Kernel(0, body), memory, {}, {100, 1024, 100000, 20, 0, 1, true}), "");
  const std::string unordered =
      ".shared .b32 one; setp.ne.u32 %p1, %r0, 0; @!%p1 st.shared.u32 [one], %r0; bar.sync 0; ld.shared.u32 %r1, "
      "[one]; "
      "mov.u32 %r2, %ctaid.x; setp.eq.u32 %p2, %r2, 90; setp.eq.and.u32 %p2, %r0, 999, %p2; @%p2 st.shared.u32 [one], "
      "7;";
  const std::string said = RunText(Kernel(0, unordered), memory, {}, {100, 1024, 100000, 20, 0, 1, true});
  EXPECT_NE(said.find("block (90, 0, 0), thread (999, 0, 0)"), std::string::npos) << said;
}

// nvcc takes mapa out of `if (lane < blocks)`.
TEST(Clusters, AnAddressThatNothingUsesMayBeOfNoBlock) {
  EXPECT_EQ(RunCluster("mapa.shared::cluster.u32 %r20, %r9, 4; mapa.shared::cluster.u32 %r20, %r9, 0xffffffff;"), "");
}

class ClusterBugs : public testing::TestWithParam<Mistake> {};
TEST_P(ClusterBugs, AreFound) {
  const std::string said = RunCluster(GetParam().body);
  EXPECT_NE(said.find(GetParam().said), std::string::npos) << said;
}
#define KP_MEET "barrier.cluster.arrive; barrier.cluster.wait;"
INSTANTIATE_TEST_SUITE_P(
    Kernels, ClusterBugs,
    testing::Values(
        Mistake{"NoBarrier", "st.shared.u32 [%r9], %r0; bar.sync 0; ld.shared::cluster.u32 %r20, [%r10];" KP_MEET,
                "with no barrier in between"},
        Mistake{
            "RelaxedArrival",
            "st.shared.u32 [%r9], %r0; barrier.cluster.arrive.relaxed; barrier.cluster.wait; ld.shared::cluster.u32 "
            "%r20, [%r10];" KP_MEET,
            "with no barrier in between"},
        Mistake{"OverwrittenWhileRead",
                "st.shared.u32 [%r9], %r0;" KP_MEET
                "ld.shared::cluster.u32 %r20, [%r10]; st.shared.u32 [%r9], 1;" KP_MEET,
                "of block ("},
        Mistake{
            "BlockHasEnded",
            "st.shared.u32 [%r9], %r0;" KP_MEET "setp.eq.u32 %p1, %r2, 1; @%p1 exit; setp.ne.u32 %p2, %r2, 0; @%p2 bra "
            "$end; mov.u32 %r21, 0;\n$again: add.u32 %r21, %r21, 1; setp.lt.u32 %p3, %r21, 100000; @%p3 bra $again; "
            "ld.shared::cluster.u32 %r20, [%r10];\n$end: " KP_MEET,
            "which has ended: a block has to wait (barrier.cluster)"},
        Mistake{"Unwritten",
                "barrier.cluster.arrive; barrier.cluster.wait; ld.shared::cluster.u32 %r20, [%r10]; "
                "st.global.u32 [%rd0], %r20;" KP_MEET,
                "shared memory that nothing has written"},
        Mistake{"BeyondTheBlocks", "mapa.shared::cluster.u32 %r20, %r9, 4; ld.shared::cluster.u32 %r21, [%r20];",
                "names block 4 of the cluster, which has 4"},
        Mistake{"BeyondItsMemory", "ld.shared::cluster.u32 %r20, [%r4+256];",
                "the block has 256 bytes of shared memory"},
        Mistake{"ByTheBlocksOwnWindow", "ld.shared.u32 %r20, [%r10];",
                "another block's is reached by generic addresses"},
        Mistake{"WaitsWithoutArriving", "barrier.cluster.wait;", "without having arrived"},
        Mistake{"ArrivesTwice", "barrier.cluster.arrive; barrier.cluster.arrive;", "arrives a second time"},
        Mistake{"OneBlockStaysAway", "setp.eq.u32 %p1, %r2, 2; @!%p1 bra $meet; bar.sync 1, 96;\n$meet: " KP_MEET,
                "never"},
        Mistake{"AlignedButApart",
                "and.b32 %r20, %r0, 1; setp.eq.u32 %p1, %r20, 0; @%p1 barrier.cluster.arrive.aligned; ",
                ".aligned says that all 0xffffffff run it together"},
        Mistake{"NotShared", "mapa.u64 %rd5, %rd0, 0;", "isn't one of shared memory"}),
    GetName);

}  // namespace
}  // namespace kernpack::emulator
