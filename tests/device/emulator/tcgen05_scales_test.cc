// tcgen05.cp of each shape, and planted bugs of copies to tensor memory and of scales there.
#include "tcgen05_support.h"

namespace kernpack::emulator {
namespace {
namespace of_scales {

// A of 128 x 32 and B of 16 x 32 e4m3, both of ones, are at the beginning of s, without a swizzle, and have the descriptors %rd4 and %rd5;
// at 8192 are scales, of 1, with the descriptor %rd6. %p4: a thread of warp 0; %p5: thread 0.
const std::string kSetupScales =
    ".shared .align 1024 .b8 s[16384]; .shared .align 8 .b64 full; .shared .b32 slot; mov.u64 %rd4, "
    "0x0000401000080000; "
    "mov.u64 %rd5, 0x0000401000080100; mov.u64 %rd6, 0x0000400800080200; setp.lt.u32 %p4, %r0, 32; setp.eq.u32 %p5, "
    "%r0, 0; setp.ne.u32 %p6, 0, 0; mov.u32 %r41, slot; mov.u32 %r42, full; mov.b32 %r48, 0x08840000; add.s64 %rd8, "
    "%rd0, %rd20; shr.u32 %r44, %r0, 5; shl.b32 %r44, %r44, 21;\nmov.u32 %r5, 0;\n$fill: mul.lo.u32 %r6, %r5, 512; "
    "mad.lo.u32 %r6, %r0, 4, %r6; setp.lt.u32 %p2, %r6, 8192; selp.b32 %r7, 0x38383838, 0x7f7f7f7f, %p2; "
    "st.shared.u32 [%r6], %r7; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 32; @%p1 bra $fill;\n"
    "fence.proxy.async.shared::cta;\n@%p4 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r41], 64;\n@%p5 "
    "mbarrier.init.shared.b64 [%r42], 1;\nbar.sync 0; ld.shared.u32 %r43, [%r41]; add.u32 %r45, %r43, %r44;\n";
const std::string kCopyScales =
    "@%p5 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r43 + 32], %rd6;\n@%p5 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r43 "
    "+ "
    "36], %rd6;\n";
const std::string kMultiplyScaled =
    "@%p5 tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r43], %rd4, %rd5, %r48, [%r43 + 32], [%r43 + 36], "
    "%p6;\n";
const std::string kFreeScaled = "bar.sync 0; " + kFreeTensor;
const std::string kReadScaled = kReadSum + kWaitForLoad + kShowSum + kFreeScaled;

std::string RunScaled(const std::string& body, float expected = 32) { return RunTensorKernel(body, expected); }

TEST(TensorScales, CopiesAndProductsAreInOrder) {
  EXPECT_EQ(RunScaled(kSetupScales + kCopyScales + kMultiplyScaled + kCommitTensor + AwaitTensor() + kReadScaled), "");
  // Scales that are copied anew while the product before may still read the old ones.
  EXPECT_EQ(RunScaled(kSetupScales + kCopyScales + kMultiplyScaled + kCopyScales + kMultiplyScaled + kCommitTensor +
                      AwaitTensor() + kReadScaled),
            "");
  // The byte of the scales in the upper bits of their address, which CUTLASS leaves there.
  EXPECT_EQ(
      RunScaled(kSetupScales + kCopyScales +
                "add.u32 %r49, %r43, 0x40000020; mov.b32 %r48, 0x28840000;\n@%p5 "
                "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r43], %rd4, %rd5, %r48, [%r49], [%r43 + 36], "
                "%p6;\n" +
                kCommitTensor + AwaitTensor() + kReadScaled),
      "");
}

// Row r of shared memory has the words 1000 r, 1000 r + 1 and so on.
struct CopyCase {
  const char* name;
  const char* shape;
  uint32_t columns;
  uint32_t (*row)(uint32_t lane);
};
class TensorCopies : public testing::TestWithParam<CopyCase> {};

TEST_P(TensorCopies, FillTheLanes) {
  const CopyCase& c = GetParam();
  // Without a swizzle: 8 rows of 16 bytes follow each other; the next 8 are 256 bytes on, and the second 16 bytes of a row 128.
  std::string body =
      ".shared .align 1024 .b8 s[4096]; .shared .align 8 .b64 full; .shared .b32 slot; .reg .b32 %d<8>; setp.lt.u32 "
      "%p4, "
      "%r0, 32; setp.eq.u32 %p5, %r0, 0; shr.u32 %r1, %r0, 3; and.b32 %r2, %r0, 7; mul.lo.u32 %r3, %r1, 256; "
      "mad.lo.u32 "
      "%r3, %r2, 16, %r3; mul.lo.u32 %r4, %r0, 1000;\n";
  for (uint32_t w = 0; w < 8; ++w) {
    body += "add.u32 %r5, %r4, " + std::to_string(w) + "; st.shared.b32 [%r3 + " +
            std::to_string(w / 4 * 128 + w % 4 * 4) + "], %r5;\n";
  }
  body +=
      "fence.proxy.async.shared::cta; mov.u32 %r41, slot; mov.u32 %r42, full;\n@%p4 "
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r41], 32;\n@%p5 mbarrier.init.shared.b64 [%r42], "
      "1;\nbar.sync 0; ld.shared.u32 %r43, [%r41]; shr.u32 %r44, %r0, 5; shl.b32 %r44, %r44, 21; add.u32 %r45, %r43, "
      "%r44; mov.u64 %rd4, 0x0000401000080000;\n@%p5 tcgen05.cp.cta_group::1." +
      std::string(c.shape) +
      " [%r43 + 4], %rd4;\n@%p5 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r42];\n" +
      AwaitTensor() + "mul.wide.u32 %rd10, %r0, 32; add.u64 %rd10, %rd10, %rd0;\n";
  for (uint32_t w = 0; w < c.columns; ++w) {
    body += "tcgen05.ld.sync.aligned.32x32b.x1.b32 {%d0}, [%r45 + " + std::to_string(4 + w) +
            "]; tcgen05.wait::ld.sync.aligned; st.global.b32 [%rd10+" + std::to_string(4 * w) + "], %d0;\n";
  }
  body += "bar.sync 0; @%p4 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r43, 32;\n";
  TestMemory memory;
  const uint64_t out = memory.Room(4096);
  ASSERT_EQ(RunText(Kernel(1, body), memory, {out}, {1, 128, 0, 20}), "");
  const auto found = memory.Read<uint32_t>(out, 1024);
  for (uint32_t lane = 0; lane < 128; ++lane) {
    for (uint32_t w = 0; w < c.columns; ++w) ASSERT_EQ(found[lane * 8 + w], c.row(lane) * 1000 + w) << "lane " << lane;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, TensorCopies,
    testing::Values(CopyCase{"Of128x256", "128x256b", 8, [](uint32_t lane) { return lane; }},
                    CopyCase{"Of128x128", "128x128b", 4, [](uint32_t lane) { return lane; }},
                    CopyCase{"Of64x128By02And13", "64x128b.warpx2::02_13", 4, [](uint32_t lane) { return lane % 64; }},
                    CopyCase{"Of64x128By01And23", "64x128b.warpx2::01_23", 4,
                             [](uint32_t lane) { return lane % 32 + lane / 64 * 32; }},
                    CopyCase{"Of32x128", "32x128b.warpx4", 4, [](uint32_t lane) { return lane % 32; }},
                    CopyCase{"Of32x128AsTritonHasIt", "warpx4.32x128b", 4, [](uint32_t lane) { return lane % 32; }}),
    [](const auto& info) { return std::string(info.param.name); });

class TensorScaleMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(TensorScaleMistakes, AreFound) {
  const std::string said = RunScaled(GetParam().body);
  EXPECT_NE(said.find(GetParam().said), std::string::npos) << said;
}

const std::string kScaledToEnd = kMultiplyScaled + kCommitTensor + AwaitTensor() + kReadScaled;
std::string WithScaledForm(const std::string& form) {
  return kSetupScales + kCopyScales + "mov.b32 %r48, " + form + ";\n" + kScaledToEnd;
}
std::string WithFours(const std::string& form, const std::string& size) {
  return kSetupScales + kCopyScales + "mov.b32 %r48, " + form +
         ";\n@%p5 tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale" + size +
         " [%r43], %rd4, %rd5, %r48, [%r43 + 32], [%r43 + 36], %p6;\n" + kCommitTensor + AwaitTensor() + kReadScaled;
}
std::string WithInteger(const std::string& form) {
  return kSetupScales + "mov.b32 %r48, " + form +
         ";\n@%p5 tcgen05.mma.cta_group::1.kind::i8 [%r43], %rd4, %rd5, %r48, %p6;\n";
}

INSTANTIATE_TEST_SUITE_P(
    Planted, TensorScaleMistakes,
    testing::Values(
        Mistake{"NoScales", kSetupScales + kScaledToEnd, "made from tensor memory that nothing has written"},
        Mistake{"OneCopyOfTheScales",
                kSetupScales + "mov.b32 %r51, 0x7f7f7f7f; @!%p4 mov.b32 %r51, 0x80808080; " +
                    "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r45 + 32], {%r51, %r51, %r51, %r51, %r51, %r51, %r51, "
                    "%r51}; tcgen05.wait::st.sync.aligned; bar.sync 0;\n" +
                    kScaledToEnd,
                "has other scales of A at lane 32, column 32 of tensor memory than at lane 0"},
        Mistake{"StoredScalesNotWaitedFor",
                kSetupScales +
                    "mov.b32 %r51, 0x7f7f7f7f; tcgen05.st.sync.aligned.32x32b.x8.b32 [%r45 + 32], {%r51, %r51, "
                    "%r51, %r51, %r51, %r51, %r51, %r51}; bar.sync 0;\n" +
                    kScaledToEnd,
                "tcgen05.wait::st has to come first"},
        Mistake{"CopyReadAtOnce",
                kSetupScales + kCopyScales +
                    "bar.sync 0; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r50}, [%r45 + 32]; "
                    "tcgen05.wait::ld.sync.aligned;\n" +
                    kFreeScaled,
                "may still be writing: a tcgen05.commit by that thread"},
        Mistake{"ScalesOverwrittenInSharedMemory",
                kSetupScales + kCopyScales + "@%p5 st.shared.b32 [s + 8192], 0;\n" + kScaledToEnd,
                "may still be reading"},
        Mistake{"ScalesStoredWhileTheProductRuns",
                kSetupScales + kCopyScales + kMultiplyScaled + kCommitTensor +
                    "bar.sync 0; mov.b32 %r51, 0; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r45 + 32], {%r51};\n" +
                    AwaitTensor() + kReadScaled,
                "a wait for the mbarrier of its tcgen05.commit has to come first"},
        Mistake{"ScalesOutsideOfTheColumns",
                kSetupScales + kCopyScales +
                    "@%p5 tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%r43], %rd4, %rd5, %r48, [%r43 + 61], "
                    "[%r43 + 36], %p6;\n",
                "reads scales from tensor memory at lane 0, column 64, which isn't allocated"},
        Mistake{"CopyOutsideOfTheColumns",
                kSetupScales + "@%p5 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r43 + 62], %rd6;\n",
                "copies to tensor memory at lane 0, column 64, which isn't allocated"},
        Mistake{"CopyFromOutside",
                kSetupScales +
                    "mov.u64 %rd6, 0x0000400800083f00; @%p5 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r43 + 32], "
                    "%rd6;\n",
                "reads the matrix at 0x3f000"},
        Mistake{"CopyByADescriptorOfWgmma",
                kSetupScales +
                    "mov.u64 %rd6, 0x0000000800080200; @%p5 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r43 + 32], "
                    "%rd6;\n",
                "bits 46 to 48 have to be 0b001"},
        Mistake{"TypeOfScales", WithScaledForm("0x08040000"), "has to be 1 (ue8m0)"},
        Mistake{"SixtyFourRows", WithScaledForm("0x04840000"), "has to be 128 with scales"},
        Mistake{"NoSuchFormat", WithScaledForm("0x08840100"), "0 (e4m3), 1 (e5m2), 3 (e2m3), 4 (e3m2) or 5 (e2m1)"},
        Mistake{"TransposedFours", WithScaledForm("0x08848280"), "a matrix of 4 or 6 bits can't be transposed"},
        Mistake{"KOf96", WithScaledForm("0x88840000"), "K of 96 (bit 31) isn't emulated"},
        Mistake{"OddByte", WithFours("0x28840480", ".scale_vec::2X"), "have to be 0 or 2 with two scales of a row"},
        Mistake{"OtherByteOfFour", WithFours("0x080404a0", ".scale_vec::4X"), "have to be 0 with four scales of a row"},
        Mistake{"TypeOfFourScales", WithFours("0x08840480", ".block16"), "has to be 0 (ue4m3) with four scales"},
        Mistake{"TypeOfFours", WithFours("0x08840080", ".scale_vec::2X"), "have to be 1, which is e2m1"},
        Mistake{"FloatsOfIntegers", WithInteger("0x08040010"), "have to be 2, which is D of s32"},
        Mistake{"NegatedIntegers", WithInteger("0x08042020"), "integers can't be negated"},
        Mistake{"TypeOfIntegers", WithInteger("0x08040120"), "have to be 0 (u8) or 1 (s8)"},
        Mistake{"ColumnsOfIntegers", WithInteger("0x040a0020"), "above 32 has to be a multiple of 16"}),
    GetName);

}  // namespace of_scales
}  // namespace
}  // namespace kernpack::emulator
