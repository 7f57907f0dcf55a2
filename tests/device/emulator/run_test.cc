// Kernels as a compiler writes them: indexing, divergence, loops, shared memory, warps' collectives, calls.
#include <numeric>

#include "support.h"

namespace kernpack::emulator {
namespace {

TEST(Run, AddsVectors) {
  TestMemory memory;
  std::vector<float> a(1000), b(1000);
  std::iota(a.begin(), a.end(), 0.0F);
  std::iota(b.begin(), b.end(), 5.0F);
  const uint64_t pa = memory.Add(a), pb = memory.Add(b), po = memory.Room(4000);
  const std::string text = Kernel(3, R"(
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.s32 %r3, %r1, %r2, %r0;
    setp.ge.s32 %p1, %r3, 1000;
    @%p1 bra $end;
    mul.wide.s32 %rd4, %r3, 4;
    add.s64 %rd5, %rd0, %rd4; add.s64 %rd6, %rd1, %rd4; add.s64 %rd7, %rd2, %rd4;
    ld.global.nc.f32 %f1, [%rd5]; ld.global.f32 %f2, [%rd6];
    add.f32 %f3, %f1, %f2;
    st.global.f32 [%rd7], %f3;
  $end:)");
  ASSERT_EQ(RunText(text, memory, {pa, pb, po}, {4, 256}), "");
  const std::vector<float> out = memory.Read<float>(po, 1000);
  for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], a[i] + b[i]) << i;
}

// Lane i loops i times: all leave at different times and meet again.
TEST(Run, LanesLoopAsOftenAsTheyWant) {
  TestMemory memory;
  const uint64_t out = memory.Room(128);
  ASSERT_EQ(RunText(Kernel(1, R"(
    mov.u32 %r1, 0; mov.u32 %r2, 0;
  $loop:
    setp.ge.u32 %p1, %r1, %r0;
    @%p1 bra $done;
    add.u32 %r2, %r2, %r1; add.u32 %r1, %r1, 1;
    bra $loop;
  $done:
    activemask.b32 %r3;
    mad.lo.u32 %r2, %r2, 2, 0;
    setp.eq.u32 %p2, %r3, 0xffffffff;
    @!%p2 mov.u32 %r2, 77;
    add.s64 %rd1, %rd0, %rd20;
    st.global.u32 [%rd1], %r2;)"),
                    memory, {out}),
            "");
  for (uint32_t i = 0; const uint32_t value : memory.Read<uint32_t>(out, 32)) {
    EXPECT_EQ(value, i == 0 ? 0 : i * (i - 1)) << i;
    ++i;
  }
}

// It begins at a multiple of 16 bytes behind the static one, and is all there.
TEST(Run, DynamicSharedMemoryIsBehindTheStatic) {
  TestMemory memory;
  const uint64_t out = memory.Room(128);
  ASSERT_EQ(
      RunText(Kernel(1,
                     ".shared .align 4 .b8 s[20]; mov.u32 %r1, tile; mad.lo.u32 %r2, %r0, 8, %r1; mov.u64 %rd2, 7;"
                     "st.shared.u64 [%r2], %rd2; add.s64 %rd1, %rd0, %rd20; st.global.u32 [%rd1], %r1;",
                     ".extern .shared .align 8 .b8 tile[];\n"),
              memory, {out}, {1, 32, 256}),
      "");
  EXPECT_EQ(memory.Read<uint32_t>(out, 1)[0] % 16, 0);
}

// A block reverses 256 words through shared memory.
constexpr const char kReverse[] = R"(
    .shared .align 4 .b8 part[1024];
    add.s64 %rd2, %rd0, %rd20;
    ld.global.u32 %r1, [%rd2];
    mov.u32 %r2, part;
    shl.b32 %r3, %r0, 2; add.u32 %r4, %r2, %r3;
    st.shared.u32 [%r4], %r1;
    BARRIER
    sub.u32 %r5, 255, %r0; shl.b32 %r5, %r5, 2; add.u32 %r6, %r2, %r5;
    ld.shared.u32 %r7, [%r6];
    add.s64 %rd3, %rd1, %rd20;
    st.global.u32 [%rd3], %r7;)";

std::string Reverse(const std::string& barrier) {
  std::string body = kReverse;
  return body.replace(body.find("BARRIER"), 7, barrier);
}

TEST(Run, BarriersOrderSharedMemory) {
  for (const char* barrier :
       {"bar.sync 0;", "barrier.sync.aligned 3;", "bar.sync 1, 256;", "bar.arrive 2, 512; bar.sync 2, 512;"}) {
    TestMemory memory;
    std::vector<uint32_t> values(256);
    std::iota(values.begin(), values.end(), 0U);
    const uint64_t in = memory.Add(values), out = memory.Room(1024);
    ASSERT_EQ(RunText(Kernel(2, Reverse(barrier)), memory, {in, out}, {1, 256}), "") << barrier;
    const std::vector<uint32_t> got = memory.Read<uint32_t>(out, 256);
    for (uint32_t i = 0; i < 256; ++i) ASSERT_EQ(got[i], 255 - i);
  }
}

TEST(Run, LanesExchangeValues) {
  TestMemory memory;
  const uint64_t out = memory.Room(32 * 4 * 5);
  ASSERT_EQ(RunText(Kernel(1, R"(
    shfl.sync.bfly.b32 %r1, %r0, 16, 31, -1;
    shfl.sync.up.b32 %r2|%p1, %r0, 1, 0, -1;
    shfl.sync.idx.b32 %r3, %r0, 5, 31, 0xffffffff;
    setp.lt.u32 %p2, %r0, 7;
    vote.sync.ballot.b32 %r4, %p2, -1;
    redux.sync.add.s32 %r5, %r0, -1;
    @!%p1 add.u32 %r2, %r2, 100;
    add.s64 %rd1, %rd0, %rd20;
    st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+128], %r2; st.global.u32 [%rd1+256], %r3;
    st.global.u32 [%rd1+384], %r4; st.global.u32 [%rd1+512], %r5;)"),
                    memory, {out}),
            "");
  const std::vector<uint32_t> got = memory.Read<uint32_t>(out, 160);
  for (uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(got[i], i ^ 16);
    EXPECT_EQ(got[32 + i], i == 0 ? 100 : i - 1);
    EXPECT_EQ(got[64 + i], 5U);
    EXPECT_EQ(got[96 + i], 0x7fU);
    EXPECT_EQ(got[128 + i], 496U);
  }
}

// A function with a loop and parameters in memory, called where lanes have parted.
TEST(Run, FunctionsAreCalled) {
  const std::string callee = R"(
.func (.param .b32 result) power(.param .b32 base, .param .b32 times) {
  .reg .pred %p<2>; .reg .b32 %r<4>;
  ld.param.u32 %r1, [base]; ld.param.u32 %r2, [times]; mov.u32 %r3, 1;
$again:
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra $out;
  mul.lo.u32 %r3, %r3, %r1; sub.u32 %r2, %r2, 1;
  bra.uni $again;
$out:
  st.param.b32 [result], %r3;
  ret;
}
)";
  TestMemory memory;
  const uint64_t out = memory.Room(128);
  ASSERT_EQ(RunText(Kernel(1, R"(
    mov.u32 %r5, 1000;
    and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0;
    @%p1 bra $store;
    { .param .b32 a; .param .b32 b; .param .b32 c;
      and.b32 %r2, %r0, 7;
      st.param.b32 [a], 3; st.param.b32 [b], %r2;
      call.uni (c), power, (a, b);
      ld.param.b32 %r5, [c]; }
  $store:
    add.s64 %rd1, %rd0, %rd20;
    st.global.u32 [%rd1], %r5;)",
                           callee),
                    memory, {out}),
            "");
  constexpr uint32_t kPowers[] = {1, 3, 9, 27, 81, 243, 729, 2187};
  for (uint32_t i = 0; const uint32_t value : memory.Read<uint32_t>(out, 32)) {
    EXPECT_EQ(value, i % 2 == 0 ? 1000 : kPowers[i & 7]) << i;
    ++i;
  }
}

// Lanes take a lock one after the other: who spins lets the others of the warp go on.
TEST(Run, SpinningLanesLetOthersRun) {
  TestMemory memory;
  const uint64_t lock = memory.Add<uint32_t>({0, 0});
  ASSERT_EQ(RunText(Kernel(1, R"(
  $spin:
    atom.global.cas.b32 %r1, [%rd0], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra $spin;
    ld.global.u32 %r2, [%rd0+4]; add.u32 %r2, %r2, 1; st.global.u32 [%rd0+4], %r2;
    atom.global.exch.b32 %r3, [%rd0], 0;)"),
                    memory, {lock}, {1, 64}),
            "");
  EXPECT_EQ(memory.Read<uint32_t>(lock, 2)[1], 64U);
}

TEST(Run, AtomicsOfManyBlocks) {
  TestMemory memory;
  const uint64_t sum = memory.Add<uint32_t>({0, 0});
  const uint64_t real = memory.Add<float>({0});
  ASSERT_EQ(RunText(Kernel(2, R"(
    red.global.add.u32 [%rd0], 1;
    atom.global.max.u32 %r1, [%rd0+4], %r0;
    atom.global.add.f32 %f1, [%rd1], 0f3F800000;)"),
                    memory, {sum, real}, {100, 96}),
            "");
  EXPECT_EQ(memory.Read<uint32_t>(sum, 2), (std::vector<uint32_t>{9600, 95}));
  EXPECT_EQ(memory.Read<float>(real, 1)[0], 9600.0F);
}

// Two stages of a pipeline: copies of one arrive while the other is read; what is not given is zero.
TEST(Run, CopiesArriveWhenTheyAreWaitedFor) {
  TestMemory memory;
  std::vector<uint32_t> values(256);
  std::iota(values.begin(), values.end(), 1U);
  const uint64_t in = memory.Add(values), out = memory.Room(512);
  ASSERT_EQ(RunText(Kernel(2, R"(
    .shared .align 16 .b8 s[1024];
    mov.u32 %r1, s; shl.b32 %r2, %r0, 2; add.u32 %r1, %r1, %r2;
    add.s64 %rd2, %rd0, %rd20; add.s64 %rd3, %rd1, %rd20;
    mov.u32 %r3, 0; mov.u32 %r8, 0; mov.u32 %r10, 0;
    cp.async.ca.shared.global [%r1], [%rd2], 4; cp.async.commit_group;
  $next:
    add.s64 %rd2, %rd2, 256; xor.b32 %r4, %r8, 256; add.u32 %r5, %r1, %r4; add.u32 %r6, %r1, %r8;
    setp.lt.u32 %p1, %r3, 3; mov.u32 %r7, 4;
    @%p1 cp.async.ca.shared.global [%r5], [%rd2], 4, %r7; cp.async.commit_group;
    cp.async.wait_group 1;
    bar.sync 0;
    ld.shared.u32 %r9, [%r6]; add.u32 %r10, %r10, %r9;
    bar.sync 0;
    mov.u32 %r8, %r4; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 4; @%p2 bra $next;
    mov.u32 %r7, 0; cp.async.ca.shared.global [%r1], [%rd0], 4, %r7; cp.async.wait_all;
    ld.shared.u32 %r9, [%r1]; add.u32 %r10, %r10, %r9;
    st.global.u32 [%rd3], %r10;)",
                           ""),
                    memory, {in, out}, {1, 64}),
            "");
  for (uint32_t i = 0; const uint32_t value : memory.Read<uint32_t>(out, 64)) {
    EXPECT_EQ(value, 4 * (i + 1) + 64 * (1 + 2 + 3)) << i;
    ++i;
  }
}

}  // namespace
}  // namespace kernpack::emulator
