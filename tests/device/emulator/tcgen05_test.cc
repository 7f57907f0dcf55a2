// tcgen05 against sums over matrices that are laid out as the PTX manual draws them, and tensor memory by each shape of its loads.
#include <random>

#include "laid_matrix.h"
#include "tcgen05_support.h"

namespace kernpack::emulator {
namespace {

struct TensorCase {
  const char* name;
  Is of;
  uint32_t rows, columns;
  uint32_t swizzle_a, swizzle_b;  // bytes; 0: none
  bool transposed_a = false, transposed_b = false;
  bool negates_a = false, negates_b = false;
  bool keeps_first = false;  // the first product adds to what D holds, 5
  bool a_in_tensor = false;
  uint32_t mma_order = 0;
};

// Bits of the manual's table of the instruction descriptor, with D of f32.
uint32_t DescribeProduct(const TensorCase& c) {
  const uint32_t type = c.of == Is::kTf32 ? 2 : c.of == Is::kBf16 ? 1 : 0;
  return 1U << 4 | type << 7 | type << 10 | uint32_t{c.negates_a} << 13 | uint32_t{c.negates_b} << 14 |
         uint32_t{c.transposed_a} << 15 | uint32_t{c.transposed_b} << 16 | c.columns / 8 << 17 | c.rows / 16 << 24;
}

constexpr uint32_t kTensorSteps = 4, kRowThreads = 128, kPart = 8;  // columns that a load takes

class Tcgen05 : public testing::TestWithParam<TensorCase> {};

TEST_P(Tcgen05, IsTheProduct) {
  const TensorCase& c = GetParam();
  const uint32_t bytes = GetKind(c.of).bytes, each = 32 / bytes, depth = kTensorSteps * each;
  std::mt19937 random(23);
  std::vector<int> a(c.rows * depth), b(c.columns * depth);
  for (std::vector<int>* all : {&a, &b}) {
    for (int& x : *all) x = static_cast<int>(random() % 7) - 3;
  }
  const auto of_a = [&](uint32_t r, uint32_t k) {
    return Encode(c.of, a[r * depth + k], static_cast<uint32_t>(random()));
  };
  const auto of_b = [&](uint32_t n, uint32_t k) {
    return Encode(c.of, b[n * depth + k], static_cast<uint32_t>(random()));
  };
  const uint64_t begin_a = 1024;
  const Laid laid_a = Lay(begin_a, c.rows, kTensorSteps, bytes, c.swizzle_a, c.transposed_a, of_a);
  const uint64_t begin_b = (begin_a + laid_a.image.size() + 1023) / 1024 * 1024;
  const Laid laid_b = Lay(begin_b, c.columns, kTensorSteps, bytes, c.swizzle_b, c.transposed_b, of_b);
  std::vector<uint8_t> image(begin_b + (laid_b.image.size() + 1023) / 1024 * 1024);
  std::copy(laid_a.image.begin(), laid_a.image.end(), image.begin() + begin_a);
  std::copy(laid_b.image.begin(), laid_b.image.end(), image.begin() + static_cast<int64_t>(begin_b));
  std::vector<uint64_t> descriptors;
  for (const Laid* laid : {&laid_a, &laid_b}) {
    for (const uint64_t of : laid->descriptors) descriptors.push_back(of | uint64_t{1} << 46);  // the fixed bits
  }
  // A in tensor memory: row r in lane r, elements one after the other.
  std::vector<uint32_t> words(size_t{kRowThreads} * kTensorSteps * 8);
  for (uint32_t r = 0; r < c.rows && c.a_in_tensor; ++r) {
    for (uint32_t k = 0; k < depth; ++k)
      words[(r * depth + k) * bytes / 4] |= of_a(r, k) << (8 * bytes * (k % (4 / bytes)));
  }
  const uint64_t slot = image.size();
  std::string body = ".reg .b32 %d<8>; " + LoadImage(image.size(), slot) +
                     "@%p4 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" + kMeetTensor +
                     "mov.b32 %r46, 0x40a00000; setp.eq.u32 %p6, 0, " + (c.keeps_first ? "0" : "1") +
                     "; setp.eq.u32 %p7, 0, 0; add.u32 %r47, %r43, 256; mov.b32 %r48, " +
                     std::to_string(DescribeProduct(c)) + ";\n";
  for (uint32_t column = 0; column < c.columns && c.keeps_first; column += kPart) {
    body += "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r45 + " + std::to_string(column) +
            "], {%r46, %r46, %r46, %r46, %r46, %r46, %r46, %r46};\n";
  }
  if (c.a_in_tensor) body += "mad.wide.u32 %rd10, %r0, " + std::to_string(kTensorSteps * 32) + ", %rd3;\n";
  for (uint32_t s = 0; s < kTensorSteps && c.a_in_tensor; ++s) {
    for (uint32_t w = 0; w < 8; ++w)
      body += "ld.global.b32 %d" + std::to_string(w) + ", [%rd10+" + std::to_string(32 * s + 4 * w) + "];\n";
    body += "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r45 + " + std::to_string(256 + 8 * s) + "], " +
            ListRegisters("d", 8) + ";\n";
  }
  body +=
      "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0; "
      "tcgen05.fence::after_thread_sync;\n";
  for (uint32_t s = 0; s < kTensorSteps; ++s) {
    body += "ld.global.u64 %rd30, [%rd1+" + std::to_string(8 * s) + "]; ld.global.u64 %rd31, [%rd1+" +
            std::to_string(8 * (kTensorSteps + s)) +
            "];\n@%p5 tcgen05.mma.cta_group::1.kind::" + (c.of == Is::kTf32 ? "tf32" : "f16") + " [%r43 + 0], " +
            (c.a_in_tensor ? "[%r47 + " + std::to_string(8 * s) + "]" : std::string("%rd30")) + ", %rd31, %r48, " +
            (s == 0 ? "%p6" : "%p7") + ";\n";
  }
  body +=
      "@%p5 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r42];\n$wait: "
      "mbarrier.try_wait.parity.shared.b64 %p1, [%r42], 0; @!%p1 bra $wait;\nmul.wide.u32 %rd10, %r0, 1024; add.u64 "
      "%rd10, %rd10, %rd0;\n";
  const bool half = c.rows == 64;  // rows are in the first 16 lanes of each warp
  for (uint32_t column = 0; column < c.columns; column += kPart) {
    body += std::string("tcgen05.ld.sync.aligned.") + (half ? "16x32bx2.x4" : "32x32b.x8") + ".b32 " +
            ListRegisters("d", half ? 4 : 8) + ", [%r45 + " + std::to_string(column) + (half ? "], 4" : "]") +
            ";\ntcgen05.wait::ld.sync.aligned;\n";
    for (uint32_t r = 0; r < (half ? 4U : 8U); ++r) {
      body += "st.global.b32 [%rd10+" + std::to_string(4 * (column + r)) + "], %d" + std::to_string(r) + ";\n";
    }
  }
  body += "bar.sync 0; @%p4 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r43, 512;\n";
  TestMemory memory;
  const uint64_t out = memory.Room(size_t{kRowThreads} * 1024), of_descriptors = memory.Add(descriptors),
                 of_image = memory.Add(image), of_words = memory.Add(words);
  Shape shape{1, kRowThreads, static_cast<uint32_t>(image.size()) + 16};
  shape.mma_order = c.mma_order;
  ASSERT_EQ(RunText(Kernel(4, body), memory, {out, of_descriptors, of_image, of_words}, shape), "");
  const auto found = memory.Read<float>(out, size_t{kRowThreads} * 256);
  for (uint32_t row = 0; row < c.rows; ++row) {
    for (uint32_t column = 0; column < c.columns; ++column) {
      int sum = 0;
      for (uint32_t k = 0; k < depth; ++k) sum += a[row * depth + k] * b[column * depth + k];
      sum = (c.negates_a != c.negates_b ? -sum : sum) + (c.keeps_first ? 5 : 0);
      const uint32_t thread = half ? row / 16 * 32 + row % 16 + column % 8 / 4 * 16 : row;
      const uint32_t at = half ? column / 8 * 8 + column % 4 : column;
      ASSERT_EQ(found[thread * 256 + at], static_cast<float>(sum)) << "row " << row << ", column " << column;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, Tcgen05,
    testing::Values(TensorCase{"PlainF16", Is::kF16, 128, 64, 0, 0},
                    TensorCase{"InOrder", Is::kF16, 128, 32, 0, 0, false, false, false, false, true, false, 1},
                    TensorCase{"AsH200", Is::kF16, 128, 32, 0, 0, false, false, false, false, true, false, 3},
                    TensorCase{"Swizzled32", Is::kF16, 128, 16, 32, 32},
                    TensorCase{"Swizzled64", Is::kBf16, 64, 24, 64, 64},
                    TensorCase{"Swizzled128", Is::kBf16, 128, 256, 128, 128},
                    TensorCase{"DifferentSwizzles", Is::kF16, 64, 8, 128, 32},
                    TensorCase{"TransposedPlain", Is::kF16, 128, 64, 0, 0, true, true},
                    TensorCase{"Transposed32", Is::kBf16, 64, 48, 32, 32, true, true},
                    TensorCase{"Transposed64", Is::kF16, 128, 96, 64, 64, true, true},
                    TensorCase{"Transposed128", Is::kBf16, 128, 128, 128, 128, true, true},
                    TensorCase{"OneTransposed", Is::kF16, 64, 64, 64, 128, false, true},
                    TensorCase{"Added", Is::kF16, 64, 32, 128, 128, false, false, false, false, true},
                    TensorCase{"NegatesA", Is::kF16, 128, 32, 128, 128, false, false, true, false, true, false, 3},
                    TensorCase{"NegatesB", Is::kBf16, 128, 32, 64, 64, false, false, false, true, true},
                    TensorCase{"NegatesBoth", Is::kBf16, 128, 32, 64, 64, false, false, true, true},
                    TensorCase{"AInTensor", Is::kF16, 128, 64, 0, 128, false, true, false, false, true, true},
                    TensorCase{"AInTensorTf32", Is::kTf32, 128, 16, 0, 64, false, false, true, false, false, true, 3},
                    TensorCase{"Tf32", Is::kTf32, 128, 64, 128, 128},
                    TensorCase{"Tf32Plain", Is::kTf32, 64, 200, 0, 32, false, false, false, false, true}),
    [](const auto& info) { return std::string(info.param.name); });

// A load's registers, as the manual draws them: the lane, from the address's on, and the column.
struct TensorLoadCase {
  const char* name;
  const char* shape;
  uint32_t registers;
  uint32_t lane;  // of the address, in the warp's lanes
  uint32_t (*row)(uint32_t thread, uint32_t reg);
  uint32_t (*column)(uint32_t thread, uint32_t reg);
};
class Tcgen05Loads : public testing::TestWithParam<TensorLoadCase> {};

TEST_P(Tcgen05Loads, HaveTheElements) {
  const TensorLoadCase& c = GetParam();
  const bool halves = std::string(c.shape).starts_with("16x32bx2");
  std::string body =
      ".reg .b32 %d<16>; .shared .b32 slot; setp.lt.u32 %p4, %r0, 32; mov.u32 %r41, slot;\n@%p4 "
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r41], 32;\nbar.sync 0; ld.shared.u32 %r43, [%r41]; "
      "shr.u32 %r44, %r0, 5; shl.b32 %r44, %r44, 21; add.u32 %r45, %r43, %r44; mad.lo.u32 %r10, %r0, 100, 0;\n";
  for (uint32_t column = 0; column < 32; ++column) {
    body += "add.u32 %d0, %r10, " + std::to_string(column) + "; tcgen05.st.sync.aligned.32x32b.x1.b32 [%r45 + " +
            std::to_string(column) + "], {%d0};\n";
  }
  body += "tcgen05.wait::st.sync.aligned; add.u32 %r46, %r45, " + std::to_string(c.lane << 16) +
          "; tcgen05.ld.sync.aligned." + c.shape + ".b32 " + ListRegisters("d", c.registers) + ", [%r46 + 3]" +
          (halves ? ", 16" : "") + "; tcgen05.wait::ld.sync.aligned; mul.wide.u32 %rd10, %r0, " +
          std::to_string(4 * c.registers) + "; add.u64 %rd10, %rd10, %rd0;\n";
  for (uint32_t r = 0; r < c.registers; ++r)
    body += "st.global.b32 [%rd10+" + std::to_string(4 * r) + "], %d" + std::to_string(r) + ";\n";
  // The same place has the elements after a store of that shape.
  body += "tcgen05.st.sync.aligned." + std::string(c.shape) + ".b32 [%r46 + 3]" + (halves ? ", 16, " : ", ") +
          ListRegisters("d", c.registers) + "; tcgen05.wait::st.sync.aligned; tcgen05.ld.sync.aligned.32x32b.x1.b32 " +
          "{%d0}, [%r45 + 4]; tcgen05.wait::ld.sync.aligned; sub.u32 %d0, %d0, %r10; add.u64 %rd11, %rd1, %rd20; "
          "st.global.b32 [%rd11], %d0; bar.sync 0; @%p4 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r43, 32;\n";
  TestMemory memory;
  const uint64_t out = memory.Room(size_t{128} * c.registers * 4), same = memory.Room(size_t{128} * 4);
  ASSERT_EQ(RunText(Kernel(2, body), memory, {out, same}, {1, 128}), "");
  const auto found = memory.Read<uint32_t>(out, size_t{128} * c.registers);
  const auto after = memory.Read<uint32_t>(same, 128);
  for (uint32_t thread = 0; thread < 128; ++thread) {
    EXPECT_EQ(after[thread], 4U);
    for (uint32_t r = 0; r < c.registers; ++r) {
      const uint32_t lane = thread / 32 * 32 + c.lane + c.row(thread % 32, r);
      ASSERT_EQ(found[thread * c.registers + r], lane * 100 + 3 + c.column(thread % 32, r))
          << "thread " << thread << ", register " << r;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, Tcgen05Loads,
    testing::Values(
        TensorLoadCase{"Of32x32", "32x32b.x8", 8, 0, [](uint32_t t, uint32_t) { return t; },
                       [](uint32_t, uint32_t r) { return r; }},
        TensorLoadCase{"OfHalves", "16x32bx2.x8", 8, 16, [](uint32_t t, uint32_t) { return t % 16; },
                       [](uint32_t t, uint32_t r) { return r + t / 16 * 16; }},
        TensorLoadCase{"Of16x64", "16x64b.x4", 4, 16, [](uint32_t t, uint32_t) { return t / 4 + t % 2 * 8; },
                       [](uint32_t t, uint32_t r) { return r * 2 + t / 2 % 2; }},
        TensorLoadCase{"Of16x128", "16x128b.x2", 4, 0, [](uint32_t t, uint32_t r) { return t / 4 + r % 2 * 8; },
                       [](uint32_t t, uint32_t r) { return r / 2 * 4 + t % 4; }},
        TensorLoadCase{"Of16x256", "16x256b.x2", 8, 16, [](uint32_t t, uint32_t r) { return t / 4 + r / 2 % 2 * 8; },
                       [](uint32_t t, uint32_t r) { return r / 4 * 8 + t % 4 * 2 + r % 2; }}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace kernpack::emulator
