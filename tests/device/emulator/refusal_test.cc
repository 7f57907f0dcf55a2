// PTX that is wrong, or not emulated, is refused with its line.
#include "support.h"

namespace kernpack::emulator {
namespace {

std::string Refused(const std::string& text) {
  try {
    Assemble(text);
    return "accepted";
  } catch (const PtxError& error) {
    return error.what();
  }
}

struct Wrong {
  const char* name;
  const char* body;
  const char* says;
};
constexpr Wrong kWrong[] = {
    {"SparseWgmma",
     "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f1, %f2, %f3, %f1}, %rd1, %rd2, %r1, 0, 1, 1, 1, 0, 0;",
     "products with a sparse A aren't"},
    {"WgmmaShape", "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16 {%f1}, %rd1, %rd2, 1, 1, 1, 0, 0;",
     "expected m64n<N>k16, with N a multiple of 8 up to 256"},
    {"WgmmaTypes", "wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16 {%r1, %r2}, %rd1, %rd2, 1, 1, 1, 0, 0;",
     "there is no such product of these types here"},
    {"WgmmaScale", "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r1, %r2}, %rd1, %rd2, 1, 2, 1, 0, 0;",
     "expected 1 or -1 as operand 5"},
    {"TensorShift", "tcgen05.shift.cta_group::1.down [%r1];",
     "PTX line 10: tcgen05.shift.cta_group::1.down isn't emulated"},
    {"TensorCopy", "tcgen05.cp.cta_group::1.4x256b [%r1], %rd1;", "tcgen05.cp.cta_group::1.4x256b isn't emulated"},
    {"TensorCopyUnpacked", "tcgen05.cp.cta_group::1.128x128b.b8x16.b4x16_p64 [%r1], %rd1;",
     "without formats that are unpacked"},
    {"TwoBlocks", "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%r1], 32;", "without .cta_group::2"},
    {"CommitToBlocks",
     "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%r1];",
     "has 1 operands; expected 2"},
    {"TransposedSpread", "ldmatrix.sync.aligned.m8n16.x1.trans.shared.b8x16.b4x16_p64 {%r1}, [%r2];",
     "and of ldmatrix .m8n16 of .b8x16"},
    {"SpreadStore", "stmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 [%r2], {%r1};",
     "and of ldmatrix .m8n16 of .b8x16"},
    {"TensorKind", "tcgen05.mma.cta_group::1.kind::f64 [%r1], %rd1, %rd2, %r2, %p1;",
     ".kind::f16, .kind::tf32, .kind::f8f6f4 and .kind::i8 are"},
    {"TensorScalesOfF16", "tcgen05.mma.cta_group::1.kind::f16.block_scale [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
     "with .block_scale .kind::mxf8f6f4"},
    {"TensorKindWithoutScales", "tcgen05.mma.cta_group::1.kind::mxf4 [%r1], %rd1, %rd2, %r2, %p1;",
     "with .block_scale .kind::mxf8f6f4"},
    {"TensorScaleSize",
     "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::2X [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
     "with .block_scale .kind::mxf8f6f4"},
    {"TensorScaleSizeMissing",
     "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale [%r1], %rd1, %rd2, %r2, [%r3], [%r4], %p1;",
     "with .block_scale .kind::mxf8f6f4"},
    {"TensorScalesMissing", "tcgen05.mma.cta_group::1.kind::mxf4.block_scale [%r1], %rd1, %rd2, %r2, %p1;",
     "has 5 operands; expected 7"},
    {"TensorWeights", "tcgen05.mma.ws.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;", "without .ws"},
    {"LanesLeftOut", "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, {%r3, %r3, %r3}, %p1;",
     "has a vector of 3, not 4"},
    {"ScaleOfD", "tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1, 16;",
     "expected a scale of D from 0 to 15"},
    {"ScaleOfIntegers", "tcgen05.mma.cta_group::1.kind::i8 [%r1], %rd1, %rd2, %r2, %p1, 1;",
     "has 6 operands; expected 5"},
    {"PackedTensorLoad", "tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32 {%r1}, [%r2];", "without .pack::16b"},
    {"TensorRegisters", "tcgen05.ld.sync.aligned.16x256b.x64.b32 {%r1}, [%r2];", "with up to 128 registers"},
    {"TensorLoadOfOneRegister", "tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1}, [%r2];", "has a vector of 1, not 2"},
    {"TensorHalves", "tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r1}, [%r2], %r3;", "expected the second half's offset"},
    {"TensorAddressInSharedMemory", "tcgen05.st.sync.aligned.32x32b.x1.b32 [%rd2], {%r1};",
     "expected an address of tensor memory such as [%r1+8]"},
    {"BlockScaled", "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0 {%f1};",
     "has 1 operands; expected 8"},
    {"Im2colInTwoDimensions",
     "cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r2}], "
     "[%r3], {%rs1};",
     "im2col is of .3d to .5d"},
    {"Im2colWithoutOffsets",
     "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r2, "
     "%r2}], [%r3];",
     "has 3 operands; expected 4"},
    {"GatherOfThree",
     "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r2, "
     "%r2}], [%r3];",
     "has a vector of 3, not 5"},
    {"ScatteredLoad",
     "cp.async.bulk.tensor.2d.shared::cta.global.tile::scatter4.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r2, "
     "%r2, %r2, %r2}], [%r3];",
     "isn't emulated"},
    {"Im2colOfWidth",
     "cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r2, "
     "%r2}], "
     "[%r3], {%rs1};",
     ".tile::scatter4 and .im2col are, without .im2col::w"},
    {"TensorWithoutCoordinates",
     "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1], [%r3];",
     "expected a tensor such as [%rd1, {%r1, %r2}]"},
    {"TensorWithTooFewCoordinates",
     "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2}], [%r3];",
     "has a vector of 1, not 2"},
    {"TooManyRegisters", "setmaxnreg.inc.sync.aligned.u32 260;", "expected a number of registers from 24 to 256"},
    {"SaturatedPairs", "add.sat.f32x2 %rd1, %rd1, %rd1;", "add.sat.f32x2 isn't emulated"},
    {"MagnitudeOfThree", "max.abs.f32 %f1, %f1, %f1, %f1;", "max.abs.f32 isn't emulated"},
    {"NoSuchInstruction", "frobnicate.b32 %r1, %r2;", "PTX line 10: frobnicate.b32 isn't emulated"},
    {"NoSuchType", "add.f31 %f1, %f2, %f3;", "add.f31 isn't emulated"},
    {"TooFewOperands", "add.u32 %r1, %r2;", "add.u32 has 2 operands; expected 3"},
    {"TooManyOperands", "neg.s32 %r1, %r2, %r3;", "neg.s32 has 3 operands; expected 2"},
    {"UndeclaredRegister", "add.u32 %r1, %r2, %r99;", "reads %r99, which isn't emulated"},
    {"UndeclaredBase", "ld.global.u32 %r1, [%rd99];", "the register '%rd99' is not declared"},
    {"UndeclaredName", "mov.u64 %rd1, nothing;", "names 'nothing', which is not declared"},
    {"UndeclaredLabel", "bra $nowhere;", "the label '$nowhere' is not in k"},
    {"NoPredicate", "@%r1 add.u32 %r1, %r2, %r3;", "is guarded by a register that isn't a predicate"},
    {"PredicateAsNumber", "add.u32 %r1, %r2, %p1;", "takes no predicate"},
    {"NoSemicolon", "add.u32 %r1, %r2, %r3", "expected ';', got 'ret'"},
    {"NoModifierOfThis", "add.ftz.u32 %r1, %r2, %r3;", "has a modifier that add.u32 doesn't take"},
    {"WrongSpace", "ld.shared.u64 %rd1, [p0];", "names 'p0', which is in another state space"},
    {"SmallRegister", "ld.global.u64 %r1, [%rd0];", "has a register of 32 bits for 8 bytes"},
    {"VectorOfAnotherSize", "ld.global.v4.u32 {%r1, %r2}, [%rd0];", "has a vector of 2, not 4"},
    {"NoAddress", "ld.global.u32 %r1, %rd0;", "expected an address such as [%rd1+4]"},
    {"UnknownFunction", "call.uni missing, ();", "calls 'missing', which is not declared"},
    {"ShuffleWithoutSync", "shfl.idx.b32 %r1, %r2, 0, 31;", "without .sync isn't emulated"},
    {"OtherClusterBarrier", "barrier.cluster.sync;", "isn't emulated"},
    {"MapOfOneBlock", "mapa.shared::cta.u32 %r1, %r2, 0;", "expected .shared::cluster or no state space"},
    {"MatricesOfAnotherBlock", "ldmatrix.sync.aligned.m8n8.x1.shared::cluster.b16 {%r1}, [%r2];", "isn't emulated"},
    {"AsyncStore", "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], %r2, [%r3];", "isn't emulated"},
    {"ProductOfOtherLayouts", "mma.sync.aligned.m8n8k4.col.col.f32.f16.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};",
     "isn't emulated; mma.sync.aligned.<shape>.row.col with four types is"},
    {"ProductOfOtherTypes", "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.f16.f32 {%f1}, {%r1}, {%r2}, {%f1};",
     "isn't emulated: there is no such shape of these types here"},
    {"ProductOfFewRegisters",
     "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1, %f2}, {%r1, %r2}, {%r3}, {%f1, %f2};",
     "has a vector of 2, not 4"},
    {"MatrixOfBytes", "ldmatrix.sync.aligned.m16n16.x1.shared.b8 {%r1}, [%r2];", "isn't emulated; .sync.aligned.m8n8"},
    {"UnknownSpecial", "mov.u32 %r1, %pm0;", "reads %pm0, which isn't emulated"},
};
class WrongPtx : public testing::TestWithParam<Wrong> {};
TEST_P(WrongPtx, IsRefused) {
  const std::string said = Refused(Kernel(1, GetParam().body));
  EXPECT_NE(said.find(GetParam().says), std::string::npos) << said;
  EXPECT_EQ(said.find("PTX line "), 0U) << said;
}
INSTANTIATE_TEST_SUITE_P(Instructions, WrongPtx, testing::ValuesIn(kWrong),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(WrongModule, IsRefused) {
  EXPECT_EQ(Refused(""), "PTX line 1: expected '.version', got the end of the text");
  EXPECT_EQ(Refused(".version 42\n"), "PTX line 1: expected a version such as 8.0, got '42'");
  EXPECT_EQ(Refused(".version 1.4\n"), "PTX line 1: PTX version 1.4 is not known here; expected 6.0 to 9.9");
  EXPECT_EQ(Refused(".version 8.0\n"), "PTX line 2: expected '.target', which names an architecture");
  EXPECT_EQ(Refused(Header() + "this is none"),
            "PTX line 4: expected a directive such as .entry or .global, got 'this'");
  EXPECT_EQ(Refused(".version 8.0\n.target sm_80\n.address_size 32"), "PTX line 3: expected '.address_size 64'");
  EXPECT_EQ(Refused(Header() + ".visible .entry k() { ret;"), "PTX line 4: expected '}' at the end of k");
  EXPECT_EQ(Refused(Header() + "/* open"), "PTX line 4: a comment that begins here does not end");
  EXPECT_EQ(Refused(Header() + ".global .b8 x[99999999999];"), "PTX line 4: the variable 'x' is larger than 4 GiB");
  const std::string twice = ".func f() { call.uni f, (); ret; }\n";
  EXPECT_NE(Refused(Kernel(0, "call.uni f, ();", twice)).find("recursion isn't emulated"), std::string::npos);
}

// Any beginning of a text, and any character changed, is refused or read; never a crash.
TEST(WrongModule, CutOffOrChangedNeverCrashes) {
  const std::string text = Kernel(2, R"(
    .shared .align 4 .b8 part[64];
    setp.lt.and.u32 %p1|%p2, %r0, 5, !%p3;
    @%p1 bra $a;
    st.shared.v2.f32 [part+8], {%f1, 0f3F800000};
    mov.b64 {%r1, %r2}, %rd1; mov.f64 %fd1, 1.5;
    { .reg .b32 t; mov.u32 t, -3; }
  $a:)",
                                  ".global .align 4 .u32 table[3] = {1, 0x2, 3};\n");
  ASSERT_EQ(Refused(text), "accepted");
  for (size_t size = 0; size < text.size() - 4; ++size) EXPECT_NE(Refused(text.substr(0, size)), "accepted") << size;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    for (const char c : {';', '{', '[', '"', '9', '%', '\0', '\xff'}) {
      changed[i] = c;
      SCOPED_TRACE(i);
      Refused(changed);
    }
  }
}

}  // namespace
}  // namespace kernpack::emulator
