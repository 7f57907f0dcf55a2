// wgmma against sums over matrices that are laid out in shared memory as the PTX manual draws it: core matrices of 8 rows of 16 bytes,
// and patterns of 8 rows in which the swizzle exchanges units of 16 bytes.
#include <cmath>
#include <random>

#include "laid_matrix.h"
#include "support.h"

namespace kernpack::emulator {
namespace {

struct ProductCase {
  const char* name;
  Is a, b;
  const char* d;  // type
  uint32_t columns;
  uint32_t swizzle_a, swizzle_b;  // bytes; 0: none
  bool transposed_a = false, transposed_b = false;
  bool a_in_registers = false;
  int sign_a = 1, sign_b = 1;
  bool keeps_first = false;  // the first product adds to what D holds
  bool clamps = false;
};

constexpr uint32_t kSteps = 4, kRows = 64;

class Wgmma : public testing::TestWithParam<ProductCase> {};

TEST_P(Wgmma, IsTheProduct) {
  const ProductCase& c = GetParam();
  const uint32_t bytes = GetKind(c.a).bytes, each = 32 / bytes, depth = kSteps * each;
  std::mt19937 random(17);
  const auto draw = [&](Is of) {
    if (of == Is::kS8) return static_cast<int>(random() % 256) - 128;
    if (of == Is::kU8) return static_cast<int>(random() % 256);
    return static_cast<int>(random() % 7) - 3;
  };
  std::vector<int> a(kRows * depth), b(c.columns * depth);
  for (int& x : a) x = c.clamps ? 127 : draw(c.a);
  for (int& x : b) x = c.clamps ? 127 : draw(c.b);
  const auto of_a = [&](uint32_t r, uint32_t k) {
    return Encode(c.a, a[r * depth + k], static_cast<uint32_t>(random()));
  };
  const auto of_b = [&](uint32_t n, uint32_t k) {
    return Encode(c.b, b[n * depth + k], static_cast<uint32_t>(random()));
  };
  const uint64_t begin_a = 1024;
  const Laid laid_a = Lay(begin_a, kRows, kSteps, bytes, c.swizzle_a, c.transposed_a, of_a);
  const uint64_t begin_b = (begin_a + laid_a.image.size() + 1023) / 1024 * 1024;
  const Laid laid_b = Lay(begin_b, c.columns, kSteps, bytes, c.swizzle_b, c.transposed_b, of_b);
  std::vector<uint8_t> image(begin_b + (laid_b.image.size() + 1023) / 1024 * 1024);
  std::copy(laid_a.image.begin(), laid_a.image.end(), image.begin() + begin_a);
  std::copy(laid_b.image.begin(), laid_b.image.end(), image.begin() + static_cast<int64_t>(begin_b));
  std::vector<uint64_t> descriptors = laid_a.descriptors;
  descriptors.insert(descriptors.end(), laid_b.descriptors.begin(), laid_b.descriptors.end());
  // A's fragments: as the manual lays them out, [thread][product][register].
  std::vector<uint32_t> fragments(size_t{128} * kSteps * 4);
  const uint32_t per = 4 / bytes;
  for (uint32_t thread = 0; thread < 128; ++thread) {
    for (uint32_t s = 0; s < kSteps; ++s) {
      for (uint32_t r = 0; r < 4; ++r) {
        for (uint32_t e = 0; e < per; ++e) {
          const uint32_t row = thread / 32 * 16 + thread % 32 / 4 + r % 2 * 8;
          const uint32_t k = s * each + r / 2 * 4 * per + thread % 4 * per + e;
          fragments[(thread * kSteps + s) * 4 + r] |= of_a(row, k) << (8 * bytes * e);
        }
      }
    }
  }
  const bool halves = std::string(c.d) == "f16", whole = std::string(c.d) == "s32";
  const uint32_t registers = c.columns / (halves ? 4 : 2);
  const char* start = halves ? "0x3c004000" : whole ? "5" : "0x40a00000";  // (2, 1), 5, 5
  std::string body =
      ".reg .b32 %d<128>; .reg .b32 %a<4>; mul.wide.u32 %rd6, %r0, 4; mov.u32 %r5, 0;\n$copy: mad.lo.u32 %r6, %r5, "
      "128, "
      "%r0; mul.wide.u32 %rd7, %r6, 4; add.u64 %rd8, %rd2, %rd7; ld.global.u32 %r7, [%rd8]; cvt.u32.u64 %r8, %rd7; "
      "st.shared.u32 [%r8], %r7; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, " +
      std::to_string(image.size() / 512) +
      "; @%p1 bra $copy; fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %p2, " +
      (c.keeps_first ? "0, 1" : "0, 0") + "; setp.eq.u32 %p3, 0, 0;\n";
  for (uint32_t r = 0; r < registers; ++r) body += "mov.b32 %d" + std::to_string(r) + ", " + start + ";\n";
  std::string shape = "m64n" + std::to_string(c.columns) + "k" + std::to_string(each);
  for (uint32_t s = 0; s < kSteps; ++s) {
    const std::string at = std::to_string(8 * s);
    body += "ld.global.u64 %rd30, [%rd1+" + at + "]; ld.global.u64 %rd31, [%rd1+" + std::to_string(8 * (kSteps + s)) +
            "];\n";
    if (c.a_in_registers) {
      body += "wgmma.wait_group.sync.aligned 0; mul.wide.u32 %rd32, %r0, " + std::to_string(16 * kSteps) +
              "; add.u64 %rd32, %rd32, %rd3; ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%rd32+" + std::to_string(16 * s) +
              "];\n";
    }
    if (s == 0 || c.a_in_registers) body += "wgmma.fence.sync.aligned;\n";
    body += "wgmma.mma_async.sync.aligned." + shape + "." + c.d + "." + GetKind(c.a).name + "." + GetKind(c.b).name +
            (c.clamps ? ".satfinite " : " ") + ListRegisters("d", registers) + ", " +
            (c.a_in_registers ? ListRegisters("a", 4) : std::string("%rd30")) + ", %rd31, " + (s == 0 ? "%p2" : "%p3");
    if (!whole) body += ", " + std::to_string(c.sign_a) + ", " + std::to_string(c.sign_b);
    if (bytes == 2 && !c.a_in_registers) body += c.transposed_a ? ", 1" : ", 0";
    if (bytes == 2) body += c.transposed_b ? ", 1" : ", 0";
    body += ";\nwgmma.commit_group.sync.aligned;\n";
  }
  body += "wgmma.wait_group.sync.aligned 0; mul.wide.u32 %rd32, %r0, " + std::to_string(4 * registers) +
          "; add.u64 %rd32, %rd32, %rd0;\n";
  for (uint32_t r = 0; r < registers; ++r)
    body += "st.global.b32 [%rd32+" + std::to_string(4 * r) + "], %d" + std::to_string(r) + ";\n";
  TestMemory memory;
  const uint64_t out = memory.Room(size_t{128} * registers * 4), of_descriptors = memory.Add(descriptors),
                 of_image = memory.Add(image), of_fragments = memory.Add(fragments);
  ASSERT_EQ(RunText(Kernel(4, body), memory, {out, of_descriptors, of_image, of_fragments},
                    {1, 128, static_cast<uint32_t>(image.size())}),
            "");
  const auto found = memory.Read<uint32_t>(out, size_t{128} * registers);
  for (uint32_t thread = 0; thread < 128; ++thread) {
    for (uint32_t i = 0; i < c.columns / 2; ++i) {
      const uint32_t row = thread / 32 * 16 + thread % 32 / 4 + i % 4 / 2 * 8,
                     column = i / 4 * 8 + thread % 4 * 2 + i % 2;
      int64_t sum = c.keeps_first ? (halves ? (i % 2 == 0 ? 2 : 1) : 5) : 0;
      for (uint32_t k = 0; k < depth; ++k)
        sum += int64_t{c.sign_a * c.sign_b} * a[row * depth + k] * b[column * depth + k];
      if (c.clamps) sum = std::min<int64_t>(sum, 0x7fffffff);
      const uint32_t word = found[thread * registers + (halves ? i / 2 : i)];
      const double got = halves  ? Plain::Half::Read(static_cast<uint16_t>(word >> (16 * (i % 2))))
                         : whole ? static_cast<double>(static_cast<int32_t>(word))
                                 : static_cast<double>(std::bit_cast<float>(word));
      ASSERT_EQ(got, static_cast<double>(sum)) << "row " << row << ", column " << column;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, Wgmma,
    testing::Values(
        ProductCase{"PlainF16", Is::kF16, Is::kF16, "f32", 64, 0, 0},
        ProductCase{"Swizzled32", Is::kF16, Is::kF16, "f32", 8, 32, 32},
        ProductCase{"Swizzled64", Is::kBf16, Is::kBf16, "f32", 24, 64, 64},
        ProductCase{"Swizzled128", Is::kBf16, Is::kBf16, "f32", 256, 128, 128},
        ProductCase{"DifferentSwizzles", Is::kF16, Is::kF16, "f32", 40, 128, 32},
        ProductCase{"IntoHalves", Is::kF16, Is::kF16, "f16", 64, 128, 64, false, false, false, 1, 1, true},
        ProductCase{"TransposedPlain", Is::kF16, Is::kF16, "f32", 64, 0, 0, true, true},
        ProductCase{"Transposed32", Is::kBf16, Is::kBf16, "f32", 48, 32, 32, true, true},
        ProductCase{"Transposed64", Is::kF16, Is::kF16, "f32", 96, 64, 64, true, true},
        ProductCase{"Transposed128", Is::kBf16, Is::kBf16, "f32", 128, 128, 128, true, true},
        ProductCase{"OneTransposed", Is::kF16, Is::kF16, "f32", 128, 128, 128, false, true},
        ProductCase{"Signs", Is::kF16, Is::kF16, "f32", 32, 64, 128, false, false, false, -1, 1, true},
        ProductCase{"BothSigns", Is::kBf16, Is::kBf16, "f32", 32, 64, 128, false, false, false, -1, -1, true},
        ProductCase{"AInRegisters", Is::kF16, Is::kF16, "f32", 72, 0, 128, false, false, true},
        ProductCase{"AInRegistersSigned", Is::kBf16, Is::kBf16, "f32", 16, 0, 64, false, true, true, -1, 1, true},
        ProductCase{"Tf32", Is::kTf32, Is::kTf32, "f32", 32, 128, 128},
        ProductCase{"Tf32Plain", Is::kTf32, Is::kTf32, "f32", 200, 0, 32},
        ProductCase{"Tf32InRegisters", Is::kTf32, Is::kTf32, "f32", 64, 0, 64, false, false, true, 1, -1},
        ProductCase{"E4m3", Is::kE4m3, Is::kE4m3, "f32", 64, 128, 128},
        ProductCase{"E5m2", Is::kE5m2, Is::kE4m3, "f16", 8, 32, 64},
        ProductCase{"EightInRegisters", Is::kE4m3, Is::kE5m2, "f32", 56, 0, 0, false, false, true, 1, 1, true},
        ProductCase{"S8", Is::kS8, Is::kS8, "s32", 96, 128, 128},
        ProductCase{"MixedIntegers", Is::kU8, Is::kS8, "s32", 24, 64, 0},
        ProductCase{"IntegersInRegisters", Is::kS8, Is::kU8, "s32", 8, 0, 32, false, false, true, 1, 1, true},
        ProductCase{"Clamped", Is::kS8, Is::kU8, "s32", 16, 128, 128, false, false, false, 1, 1, true, true}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace kernpack::emulator
