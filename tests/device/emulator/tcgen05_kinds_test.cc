// tcgen05.mma of the kinds of 8 bits and fewer, with and without scales, against sums over matrices that are laid out as the PTX manual
// draws them.
#include <algorithm>
#include <cmath>
#include <random>

#include "laid_matrix.h"
#include "small_formats.h"
#include "tcgen05_support.h"

namespace kernpack::emulator {
namespace {

struct TensorKindCase {
  const char* name;
  const char* kind;  // and what follows it
  const char *a, *b;  // e4m3 and so on, s8, u8
  uint32_t rows, columns;
  uint32_t swizzle_a = 0, swizzle_b = 0;
  uint32_t scales = 0;  // of a row
  bool ue4m3 = false;
  uint32_t byte_a = 0, byte_b = 0;
  bool transposed_a = false, transposed_b = false;
  bool negates_a = false;
  bool keeps = false;  // D holds 5 before
  bool clamps = false;
  bool a_in_tensor = false;
  bool stores_scales = false;  // by tcgen05.st
};

constexpr uint32_t kStepsOfKind = 4, kThreadsOfKind = 128, kColumnOfA = 256, kColumnOfScales = 320;

bool IsWhole(const std::string& type) { return type == "s8" || type == "u8"; }

// A matrix: the values of its elements, and the bytes of its rows along K.
struct FewBits {
  std::vector<std::vector<double>> values;
  std::vector<std::vector<uint8_t>> bytes;
};
FewBits MakeFewBits(const std::string& type, uint32_t rows, bool packed, bool clamps, std::mt19937* random) {
  FewBits out;
  out.values.resize(rows), out.bytes.resize(rows);
  for (uint32_t row = 0; row < rows; ++row) {
    std::vector<uint8_t>& bytes = out.bytes[row];
    bytes.resize(kStepsOfKind * 32);
    const auto put = [&](uint32_t bit, uint32_t width, uint32_t code) {
      for (uint32_t i = 0; i < width; ++i) {
        uint8_t& byte = bytes[(bit + i) / 8];
        byte = static_cast<uint8_t>((byte & ~(1U << (bit + i) % 8)) | (code >> i & 1) << (bit + i) % 8);
      }
    };
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>((*random)());  // what is between elements doesn't count
    const uint32_t depth = kStepsOfKind * (packed ? 64 : 32);
    for (uint32_t k = 0; k < depth; ++k) {
      if (IsWhole(type)) {
        const auto code = static_cast<uint8_t>(clamps ? 127 : (*random)());
        bytes[k] = code;
        out.values[row].push_back(type == "s8" ? static_cast<int8_t>(code) : code);
        continue;
      }
      uint32_t code = 0;
      const Format& of = GetFormat(type);
      out.values[row].push_back(Draw(of, random, &code));
      // Without .kind::mxf4, 16 elements begin each 16 bytes.
      put(packed ? 4 * k : k / 16 * 128 + k % 16 * of.bits(), of.bits(), code);
    }
  }
  return out;
}

uint32_t DescribeKind(const TensorKindCase& c) {
  const auto format = [&](const std::string& type) -> uint32_t {
    if (std::string(c.kind).starts_with("mxf4")) return 1;
    return type == "u8" || type == "e4m3"   ? 0
           : type == "s8" || type == "e5m2" ? 1
           : type == "e2m3"                 ? 3
           : type == "e3m2"                 ? 4
                                            : 5;
  };
  const uint32_t common = format(c.a) << 7 | format(c.b) << 10 | uint32_t{c.negates_a} << 13 |
                          uint32_t{c.transposed_a} << 15 | uint32_t{c.transposed_b} << 16 | c.columns / 8 << 17 |
                          c.rows / 16 << 24;
  if (c.scales != 0) return common | c.byte_b << 4 | uint32_t{!c.ue4m3} << 23 | c.byte_a << 29;
  return common | (IsWhole(c.a) ? 2U : 1U) << 4 | uint32_t{c.clamps} << 3;
}

class Tcgen05Kinds : public testing::TestWithParam<TensorKindCase> {};

TEST_P(Tcgen05Kinds, AreTheProduct) {
  const TensorKindCase& c = GetParam();
  const bool packed = std::string(c.kind).starts_with("mxf4"), whole = IsWhole(c.a);
  std::mt19937 random(29);
  const FewBits a = MakeFewBits(c.a, c.rows, packed, c.clamps, &random),
                b = MakeFewBits(c.b, c.columns, packed, c.clamps, &random);
  std::vector<uint8_t> image(1024);
  std::vector<uint64_t> descriptors;
  const auto add = [&](const FewBits& of, uint32_t rows, uint32_t swizzle, bool transposed) {
    const uint64_t begin = image.size();
    const Laid laid = Lay(begin, rows, kStepsOfKind, 1, swizzle, transposed,
                          [&](uint32_t row, uint32_t k) { return of.bytes[row][k]; });
    image.resize(begin + (laid.image.size() + 1023) / 1024 * 1024);
    std::copy(laid.image.begin(), laid.image.end(), image.begin() + static_cast<int64_t>(begin));
    for (const uint64_t each : laid.descriptors) descriptors.push_back(each | uint64_t{1} << 46);
  };
  add(a, c.rows, c.swizzle_a, c.transposed_a);
  add(b, c.columns, c.swizzle_b, c.transposed_b);
  // Scales: for each product 4 columns of A's and 8 of B's, as matrices of 32 rows of 16 bytes.
  std::vector<uint32_t> words(size_t{32} * 12 * kStepsOfKind);  // [row][column]
  for (uint32_t& word : words) word = static_cast<uint32_t>(random());
  std::vector<double> of_a[kStepsOfKind], of_b[kStepsOfKind];
  for (uint32_t s = 0; s < kStepsOfKind && c.scales != 0; ++s) {
    const auto draw = [&](uint32_t rows, uint32_t first, uint32_t byte, std::vector<double>* out) {
      for (uint32_t row = 0; row < rows; ++row) {
        uint32_t& word = words[row % 32 * 12 * kStepsOfKind + first + row / 32];
        for (uint32_t n = 0; n < c.scales; ++n) {
          const uint8_t bits = DrawScale(c.ue4m3, &random);
          word = (word & ~(0xffU << (8 * (byte + n)))) | uint32_t{bits} << (8 * (byte + n));
          out->push_back(GetScale(c.ue4m3, bits));
        }
      }
    };
    draw(c.rows, 12 * s, c.byte_a, &of_a[s]);
    draw(c.columns, 12 * s + 4, c.byte_b, &of_b[s]);
  }
  const uint64_t begin_scales = image.size();
  image.resize(begin_scales + 512 * 3 * kStepsOfKind + 1024 - 512 * 3 * kStepsOfKind % 1024);
  for (uint32_t block = 0; block < 3 * kStepsOfKind; ++block) {
    for (uint32_t row = 0; row < 32; ++row)
      std::memcpy(image.data() + begin_scales + size_t{block} * 512 + size_t{row} * 16,
                  &words[row * 12 * kStepsOfKind + 4 * block], 16);
    descriptors.push_back(Describe(begin_scales + block * 512, 0, 128, 0) | uint64_t{1} << 46);
  }
  std::vector<uint32_t> rows_of_a(size_t{kThreadsOfKind} * kStepsOfKind * 8);
  for (uint32_t r = 0; r < c.rows; ++r)
    std::memcpy(&rows_of_a[size_t{r} * kStepsOfKind * 8], a.bytes[r].data(), kStepsOfKind * 32);

  const uint64_t slot = image.size();
  std::string body = ".reg .b32 %d<8>; .reg .b64 %e<16>; " + LoadImage(image.size(), slot) + kMeetTensor +
                     "mov.b32 %r46, " +
                     (c.clamps ? "0x7fffff00"
                      : whole  ? "5"
                               : "0x40a00000") +
                     "; setp.eq.u32 %p6, 0, " + (c.keeps ? "0" : "1") + "; setp.eq.u32 %p7, 0, 0; mov.b32 %r48, " +
                     std::to_string(DescribeKind(c)) + ";\n";
  for (uint32_t column = 0; column < c.columns && c.keeps; column += 8) {
    body += "tcgen05.st.sync.aligned.32x32b.x8.b32 [%r45 + " + std::to_string(column) +
            "], {%r46, %r46, %r46, %r46, %r46, %r46, %r46, %r46};\n";
  }
  const auto store = [&](const char* from, uint32_t count, uint32_t column) {
    for (uint32_t n = 0; n < count; n += 4) {
      body += std::string("ld.global.v4.b32 {%d0, %d1, %d2, %d3}, [") + from + "+" + std::to_string(4 * n) +
              "]; tcgen05.st.sync.aligned.32x32b.x4.b32 [%r45 + " + std::to_string(column + n) +
              "], {%d0, %d1, %d2, %d3};\n";
    }
  };
  if (c.a_in_tensor) {
    body += "mad.wide.u32 %rd10, %r0, " + std::to_string(kStepsOfKind * 32) + ", %rd3;\n";
    store("%rd10", kStepsOfKind * 8, kColumnOfA);
  }
  if (c.stores_scales) {  // each warp stores a copy
    body += "and.b32 %r49, %r0, 31; mad.wide.u32 %rd10, %r49, " + std::to_string(48 * kStepsOfKind) + ", %rd4;\n";
    store("%rd10", 12 * kStepsOfKind, kColumnOfScales);
  }
  body +=
      "tcgen05.wait::st.sync.aligned; tcgen05.fence::before_thread_sync; bar.sync 0; "
      "tcgen05.fence::after_thread_sync;\n";
  for (uint32_t block = 0; block < 3 * kStepsOfKind && c.scales != 0 && !c.stores_scales; ++block) {
    body += "ld.global.u64 %rd30, [%rd1+" + std::to_string(8 * (2 * kStepsOfKind + block)) +
            "];\n@%p5 tcgen05.cp.cta_group::1.32x128b.warpx4 [%r43 + " + std::to_string(kColumnOfScales + 4 * block) +
            "], %rd30;\n";
  }
  for (uint32_t s = 0; s < kStepsOfKind; ++s) {
    const uint32_t at = kColumnOfScales + 12 * s;
    body += "ld.global.u64 %rd30, [%rd1+" + std::to_string(8 * s) + "]; ld.global.u64 %rd31, [%rd1+" +
            std::to_string(8 * (kStepsOfKind + s)) + "];\n@%p5 tcgen05.mma.cta_group::1.kind::" + c.kind + " [%r43], " +
            (c.a_in_tensor ? "[%r43 + " + std::to_string(kColumnOfA + 8 * s) + "]" : std::string("%rd30")) +
            ", %rd31, %r48, " +
            (c.scales == 0 ? "" : "[%r43 + " + std::to_string(at) + "], [%r43 + " + std::to_string(at + 4) + "], ") +
            (s == 0 ? "%p6" : "%p7") + ";\n";
  }
  body +=
      "@%p5 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r42];\n$wait: "
      "mbarrier.try_wait.parity.shared.b64 %p1, [%r42], 0; @!%p1 bra $wait;\nmul.wide.u32 %rd10, %r0, 1024; add.u64 "
      "%rd10, %rd10, %rd0;\n";
  for (uint32_t column = 0; column < c.columns; column += 8) {
    body += "tcgen05.ld.sync.aligned.32x32b.x8.b32 " + ListRegisters("d", 8) + ", [%r45 + " + std::to_string(column) +
            "];\ntcgen05.wait::ld.sync.aligned;\n";
    for (uint32_t r = 0; r < 8; ++r) {
      // Of the half of the lanes that a product of 64 rows leaves out, nothing is known.
      body += std::string(c.rows == 64 ? "@%p8 " : "") + "st.global.b32 [%rd10+" + std::to_string(4 * (column + r)) +
              "], %d" + std::to_string(r) + ";\n";
    }
  }
  body += "bar.sync 0; @%p4 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r43, 512;\n";
  body = "and.b32 %r50, %r0, 16; setp.eq.u32 %p8, %r50, 0;\n" + body;
  for (const uint32_t order : {0, 3}) {
    TestMemory memory;
    const uint64_t out = memory.Room(size_t{kThreadsOfKind} * 1024);
    Shape shape{1, kThreadsOfKind, static_cast<uint32_t>(image.size()) + 16};
    shape.mma_order = order;
    ASSERT_EQ(
        RunText(Kernel(5, body), memory,
                {out, memory.Add(descriptors), memory.Add(image), memory.Add(rows_of_a), memory.Add(words)}, shape),
        "");
    const auto found = memory.Read<uint32_t>(out, size_t{kThreadsOfKind} * 256);
    const uint32_t in_step = packed ? 64 : 32;
    for (uint32_t row = 0; row < c.rows; ++row) {
      for (uint32_t column = 0; column < c.columns; ++column) {
        double sum = 0;
        for (uint32_t k = 0; k < kStepsOfKind * in_step; ++k) {
          double product = a.values[row][k] * b.values[column][k];
          if (c.scales != 0) {
            const uint32_t s = k / in_step, n = k % in_step / (in_step / c.scales);
            product *= of_a[s][row * c.scales + n] * of_b[s][column * c.scales + n];
          }
          sum += product;
        }
        sum = (c.negates_a ? -sum : sum) + (!c.keeps ? 0 : c.clamps ? 0x7fffff00 : 5);
        if (c.clamps) sum = std::min(sum, 0x1p31 - 1);
        const uint32_t thread = c.rows == 64 ? row / 16 * 32 + row % 16 : row;
        const uint32_t word = found[thread * 256 + column];
        const double got =
            whole ? static_cast<double>(static_cast<int32_t>(word)) : static_cast<double>(std::bit_cast<float>(word));
        ASSERT_EQ(got, sum) << "row " << row << ", column " << column << ", order " << order;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, Tcgen05Kinds,
                         testing::Values(TensorKindCase{"E4m3", "f8f6f4", "e4m3", "e4m3", 128, 64, 128, 128},
                                         TensorKindCase{"E5m2E4m3", "f8f6f4", "e5m2", "e4m3", 64, 24, 64, 0},
                                         TensorKindCase{"E3m2E2m1", "f8f6f4", "e3m2", "e2m1", 128, 32, 0, 32},
                                         TensorKindCase{"E2m1E2m3", "f8f6f4", "e2m1", "e2m3", 64, 8, 128, 64},
                                         TensorKindCase{.name = "Transposed8",
                                                        .kind = "f8f6f4",
                                                        .a = "e4m3",
                                                        .b = "e5m2",
                                                        .rows = 128,
                                                        .columns = 64,
                                                        .swizzle_a = 128,
                                                        .swizzle_b = 64,
                                                        .transposed_a = true,
                                                        .transposed_b = true},
                                         TensorKindCase{.name = "TransposedPlain",
                                                        .kind = "f8f6f4",
                                                        .a = "e5m2",
                                                        .b = "e5m2",
                                                        .rows = 64,
                                                        .columns = 32,
                                                        .transposed_a = true,
                                                        .transposed_b = true,
                                                        .negates_a = true,
                                                        .keeps = true},
                                         TensorKindCase{.name = "AInTensor",
                                                        .kind = "f8f6f4",
                                                        .a = "e4m3",
                                                        .b = "e3m2",
                                                        .rows = 128,
                                                        .columns = 16,
                                                        .swizzle_b = 128,
                                                        .a_in_tensor = true},
                                         TensorKindCase{.name = "S8U8",
                                                        .kind = "i8",
                                                        .a = "s8",
                                                        .b = "u8",
                                                        .rows = 128,
                                                        .columns = 48,
                                                        .swizzle_a = 128,
                                                        .swizzle_b = 32,
                                                        .keeps = true},
                                         TensorKindCase{.name = "U8S8",
                                                        .kind = "i8",
                                                        .a = "u8",
                                                        .b = "s8",
                                                        .rows = 64,
                                                        .columns = 24,
                                                        .swizzle_a = 32,
                                                        .transposed_b = true},
                                         TensorKindCase{.name = "S8Clamped",
                                                        .kind = "i8",
                                                        .a = "s8",
                                                        .b = "s8",
                                                        .rows = 128,
                                                        .columns = 16,
                                                        .keeps = true,
                                                        .clamps = true},
                                         TensorKindCase{.name = "Mxf8",
                                                        .kind = "mxf8f6f4.block_scale",
                                                        .a = "e4m3",
                                                        .b = "e5m2",
                                                        .rows = 128,
                                                        .columns = 256,
                                                        .swizzle_a = 128,
                                                        .swizzle_b = 128,
                                                        .scales = 1},
                                         TensorKindCase{.name = "Mxf6f4",
                                                        .kind = "mxf8f6f4.block_scale.scale_vec::1X",
                                                        .a = "e2m3",
                                                        .b = "e2m1",
                                                        .rows = 128,
                                                        .columns = 40,
                                                        .swizzle_a = 64,
                                                        .scales = 1,
                                                        .byte_a = 3,
                                                        .byte_b = 2,
                                                        .negates_a = true,
                                                        .keeps = true},
                                         TensorKindCase{.name = "Mxf8Stored",
                                                        .kind = "mxf8f6f4.block_scale.block32",
                                                        .a = "e5m2",
                                                        .b = "e4m3",
                                                        .rows = 128,
                                                        .columns = 8,
                                                        .scales = 1,
                                                        .byte_b = 1,
                                                        .transposed_a = true,
                                                        .stores_scales = true},
                                         TensorKindCase{.name = "Mxf4",
                                                        .kind = "mxf4.block_scale",
                                                        .a = "e2m1",
                                                        .b = "e2m1",
                                                        .rows = 128,
                                                        .columns = 64,
                                                        .swizzle_a = 128,
                                                        .swizzle_b = 128,
                                                        .scales = 2,
                                                        .byte_a = 2},
                                         TensorKindCase{.name = "Mxf4nvf4",
                                                        .kind = "mxf4nvf4.block_scale.scale_vec::4X",
                                                        .a = "e2m1",
                                                        .b = "e2m1",
                                                        .rows = 128,
                                                        .columns = 104,
                                                        .swizzle_a = 32,
                                                        .swizzle_b = 64,
                                                        .scales = 4,
                                                        .ue4m3 = true},
                                         TensorKindCase{.name = "Mxf4nvf4Twice",
                                                        .kind = "mxf4nvf4.block_scale.block32",
                                                        .a = "e2m1",
                                                        .b = "e2m1",
                                                        .rows = 128,
                                                        .columns = 16,
                                                        .scales = 2,
                                                        .byte_b = 2,
                                                        .a_in_tensor = true}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace kernpack::emulator
