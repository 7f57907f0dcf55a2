// mma with .kind against sums over the fragments and scales as the PTX manual lays them out.
#include <cmath>
#include <random>

#include "laid_matrix.h"
#include "small_formats.h"
#include "support.h"

namespace kernpack::emulator {
namespace {

struct KindCase {
  const char* name;
  const char* kind;  // and what follows it
  const char *a, *b;
  uint32_t scales = 0;  // of a row
  bool ue4m3 = false;
  uint32_t byte_a = 0, thread_a = 0, byte_b = 0, thread_b = 0;
  bool halves = false;  // C and D
  bool special = false;  // one of A's scales is NaN, and of B's the smallest
};

struct KindMatrices {
  uint32_t depth;
  std::vector<uint32_t> a, b, c, scales_a, scales_b;  // [lane][register]
  double of_a[16][64], of_b[8][64], of_c[16][8];  // scaled
};

KindMatrices MakeMatrices(const KindCase& c) {
  KindMatrices out{};
  const bool packed = std::string(c.kind).starts_with("mxf4");
  const uint32_t each = packed ? 8 : 4;
  out.depth = 8 * each;
  std::mt19937 random(31);
  const auto fill = [&](const Format& of, uint32_t rows, std::vector<uint32_t>* words, double(*values)[64],
                        auto place) {
    words->resize(size_t{32} * rows / 4);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      for (uint32_t r = 0; r < rows / 4; ++r) {
        uint32_t& word = (*words)[lane * rows / 4 + r];
        // Bits beside an element don't count.
        if (!packed) word = static_cast<uint32_t>(random());
        for (uint32_t i = 0; i < each; ++i) {
          uint32_t bits = 0;
          const double value = Draw(of, &random, &bits);
          const uint32_t at = packed ? 4 * i : 8 * i + of.shift;
          const uint32_t width = 1 + static_cast<uint32_t>(of.exponent + of.mantissa);
          word = (word & ~(((1U << width) - 1) << at)) | bits << at;
          const auto [row, k] = place(lane, r, i);
          values[row][k] = value;
        }
      }
    }
  };
  struct Spot {
    uint32_t row, k;
  };
  fill(GetFormat(c.a), 16, &out.a, out.of_a, [&](uint32_t lane, uint32_t r, uint32_t i) {
    return Spot{lane / 4 + (r % 2 != 0 ? 8 : 0), lane % 4 * each + i + (r >= 2 ? 4 * each : 0)};
  });
  fill(GetFormat(c.b), 8, &out.b, out.of_b,
       [&](uint32_t lane, uint32_t r, uint32_t i) { return Spot{lane / 4, lane % 4 * each + i + r * 4 * each}; });
  // Scales: rubbish in lanes and bytes that the selectors don't choose.
  out.scales_a.resize(32), out.scales_b.resize(32);
  for (std::vector<uint32_t>* of : {&out.scales_a, &out.scales_b}) {
    for (uint32_t& word : *of) word = static_cast<uint32_t>(random());
  }
  const auto put = [&](uint32_t* word, uint32_t byte, bool odd) {
    const uint8_t bits = odd ? (c.ue4m3 ? 0x7f : 0xff) : DrawScale(c.ue4m3, &random);
    *word = (*word & ~(0xffU << (8 * byte))) | uint32_t{bits} << (8 * byte);
    return GetScale(c.ue4m3, bits);
  };
  for (uint32_t block = 0; block < c.scales; ++block) {
    const uint32_t run = out.depth / c.scales;
    for (uint32_t row = 0; row < 16; ++row) {
      // A thread of each quad has the scale of row lane / 4, the next that of the row 8 below.
      const uint32_t lane = row % 8 * 4 + 2 * c.thread_a + (row < 8 ? 0 : 1);
      const double scale = put(&out.scales_a[lane], c.byte_a + block, c.special && row == 9 && block == 0);
      for (uint32_t k = block * run; k < (block + 1) * run; ++k) out.of_a[row][k] *= scale;
    }
    for (uint32_t column = 0; column < 8; ++column) {
      const double scale = put(&out.scales_b[column * 4 + c.thread_b], c.byte_b + block, false);
      for (uint32_t k = block * run; k < (block + 1) * run; ++k) out.of_b[column][k] *= scale;
    }
  }
  out.c.resize(size_t{32} * (c.halves ? 2 : 4));
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t i = 0; i < 4; ++i) {
      const int value = static_cast<int>(random() % 9) - 4;
      out.of_c[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2] = value;
      if (c.halves) {
        out.c[lane * 2 + i / 2] |= uint32_t{Plain::Half::Write(value)} << (16 * (i % 2));
      } else {
        out.c[lane * 4 + i] = std::bit_cast<uint32_t>(static_cast<float>(value));
      }
    }
  }
  return out;
}

std::string GetBody(const KindCase& c, const std::string& selectors_a, const std::string& selectors_b) {
  const std::string type = c.halves ? "f16" : "f32";
  const bool packed = std::string(c.kind).starts_with("mxf4");
  std::string body =
      ".reg .b32 %a<4>; .reg .b32 %b<2>; .reg .b32 %c<4>; .reg .b32 %d<4>; .reg .b32 %s<2>; .reg .b16 %h<4>;\n"
      "mul.wide.u32 %rd10, %r0, 16; mul.wide.u32 %rd11, %r0, 8; mul.wide.u32 %rd12, %r0, 4;\n"
      "add.u64 %rd13, %rd1, %rd10; ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%rd13];\n"
      "add.u64 %rd13, %rd2, %rd11; ld.global.v2.b32 {%b0, %b1}, [%rd13];\n";
  body += c.halves ? "add.u64 %rd13, %rd3, %rd11; ld.global.v2.b32 {%c0, %c1}, [%rd13];\n"
                   : "add.u64 %rd13, %rd3, %rd10; ld.global.v4.b32 {%c0, %c1, %c2, %c3}, [%rd13];\n";
  if (c.scales != 0) {
    body +=
        "add.u64 %rd13, %rd4, %rd12; ld.global.b32 %s0, [%rd13]; add.u64 %rd13, %rd5, %rd12; ld.global.b32 %s1, "
        "[%rd13]; mov.u16 %h0, " +
        std::to_string(c.byte_a) + "; mov.u16 %h1, " + std::to_string(c.thread_a) + ";\n";
  }
  const std::string sums = c.halves ? "2" : "4";
  body += std::string("mma.sync.aligned.kind::") + c.kind + (packed ? ".m16n8k64" : ".m16n8k32") + ".row.col." + type +
          "." + c.a + "." + c.b + "." + type +
          (c.scales == 0 ? ""
           : c.ue4m3     ? ".ue4m3"
                         : ".ue8m0") +
          " " + (c.halves ? "{%d0, %d1}" : "{%d0, %d1, %d2, %d3}") + ", {%a0, %a1, %a2, %a3}, {%b0, %b1}, " +
          (c.halves ? "{%c0, %c1}" : "{%c0, %c1, %c2, %c3}");
  if (c.scales != 0) body += ", {%s0}, {" + selectors_a + "}, {%s1}, {" + selectors_b + "}";
  return body + (c.halves ? ";\nadd.u64 %rd13, %rd0, %rd11; st.global.v2.b32 [%rd13], {%d0, %d1};"
                          : ";\nadd.u64 %rd13, %rd0, %rd10; st.global.v4.b32 [%rd13], {%d0, %d1, %d2, %d3};");
}

class MmaOfKind : public testing::TestWithParam<KindCase> {};

TEST_P(MmaOfKind, IsTheProduct) {
  const KindCase& c = GetParam();
  const KindMatrices of = MakeMatrices(c);
  for (const uint32_t order : {0, 1, 2, 3}) {
    TestMemory memory;
    const uint64_t out = memory.Room(512);
    Shape shape{1, 32};
    shape.mma_order = order;
    // One pair of selectors in registers, the other in the text.
    ASSERT_EQ(
        RunText(Kernel(6, GetBody(c, "%h0, %h1", std::to_string(c.byte_b) + ", " + std::to_string(c.thread_b))), memory,
                {out, memory.Add(of.a), memory.Add(of.b), memory.Add(of.c), memory.Add(of.scales_a),
                 memory.Add(of.scales_b)},
                shape),
        "");
    const auto found = memory.Read<uint32_t>(out, c.halves ? 64 : 128);
    for (uint32_t lane = 0; lane < 32; ++lane) {
      for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
        double sum = of.of_c[row][column];
        for (uint32_t k = 0; k < of.depth; ++k) sum += of.of_a[row][k] * of.of_b[column][k];
        const double got = c.halves
                               ? Plain::Half::Read(static_cast<uint16_t>(found[lane * 2 + i / 2] >> (16 * (i % 2))))
                               : static_cast<double>(std::bit_cast<float>(found[lane * 4 + i]));
        if (std::isnan(sum)) {
          ASSERT_TRUE(std::isnan(got)) << "row " << row;
          continue;
        }
        ASSERT_EQ(got, c.halves ? Plain::Half::Read(Plain::Half::Write(sum)) : sum)
            << "row " << row << ", column " << column << ", order " << order;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, MmaOfKind,
    testing::Values(KindCase{"E4m3", "f8f6f4", "e4m3", "e4m3"}, KindCase{"E5m2E2m1", "f8f6f4", "e5m2", "e2m1"},
                    KindCase{"E3m2E2m3", "f8f6f4", "e3m2", "e2m3"}, KindCase{"E2m1E3m2", "f8f6f4", "e2m1", "e3m2"},
                    KindCase{"E2m3IntoHalves", "f8f6f4", "e2m3", "e4m3", 0, false, 0, 0, 0, 0, true},
                    KindCase{"Scaled", "mxf8f6f4.block_scale.scale_vec::1X", "e4m3", "e5m2", 1, false, 0, 0, 0, 0},
                    KindCase{"OtherBytes", "mxf8f6f4.block_scale", "e2m1", "e3m2", 1, false, 3, 1, 2, 3},
                    KindCase{"NanScale", "mxf8f6f4.block_scale", "e2m3", "e2m1", 1, false, 1, 0, 1, 2, false, true},
                    KindCase{"Fours", "mxf4.block_scale", "e2m1", "e2m1", 2, false, 0, 1, 2, 1},
                    KindCase{"FoursUpper", "mxf4.block_scale.scale_vec::2X", "e2m1", "e2m1", 2, false, 2, 0, 0, 0},
                    KindCase{"FoursOfNv", "mxf4nvf4.block_scale.scale_vec::2X", "e2m1", "e2m1", 2, false, 0, 0, 2, 3},
                    KindCase{"FourScales", "mxf4nvf4.block_scale.scale_vec::4X", "e2m1", "e2m1", 4, true, 0, 1, 0, 2},
                    KindCase{"FourScalesNan", "mxf4nvf4.block_scale.scale_vec::4X", "e2m1", "e2m1", 4, true, 0, 0, 0, 0,
                             false, true}),
    [](const auto& info) { return std::string(info.param.name); });

// Scales of the whole range: 2^-127 and 2^127 cancel out, and don't become zeros or infinities in between.
TEST(BlockScales, OfTheEndsOfTheRange) {
  KindCase c{"", "mxf8f6f4.block_scale", "e2m1", "e2m1", 1};
  KindMatrices of = MakeMatrices(c);
  for (uint32_t& word : of.a) word = 0x08080808;  // 1
  for (uint32_t& word : of.b) word = 0x10101010;  // 2
  for (uint32_t& word : of.scales_a) word = 0;
  for (uint32_t& word : of.scales_b) word = 0xfe;
  for (uint32_t& word : of.c) word = 0;
  for (const uint32_t order : {0, 1, 2, 3}) {
    TestMemory memory;
    const uint64_t out = memory.Room(512);
    Shape shape{1, 32};
    shape.mma_order = order;
    ASSERT_EQ(RunText(Kernel(6, GetBody(c, "0, 0", "0, 0")), memory,
                      {out, memory.Add(of.a), memory.Add(of.b), memory.Add(of.c), memory.Add(of.scales_a),
                       memory.Add(of.scales_b)},
                      shape),
              "");
    for (const float sum : memory.Read<float>(out, 128)) ASSERT_EQ(sum, 64);
  }
}

// A selector that there isn't is named; so is a scale that nobody wrote.
std::string RunWith(const KindCase& c, const std::string& a, const std::string& b, bool unwritten = false) {
  const KindMatrices of = MakeMatrices(c);
  TestMemory memory;
  const uint64_t out = memory.Room(512), scales = memory.Add(of.scales_a);
  std::string body = GetBody(c, a, b);
  const std::string load = "ld.global.b32 %s0, [%rd13];";
  if (unwritten) body.replace(body.find(load), load.size(), ".shared .b32 q; ld.shared.b32 %s0, [q];");
  return RunText(Kernel(6, body + "setp.gt.f32 %p1, %d0, 0f00000000; @%p1 st.global.b32 [%rd0], %d1;"), memory,
                 {out, memory.Add(of.a), memory.Add(of.b), memory.Add(of.c), scales, memory.Add(of.scales_b)}, {1, 32});
}

TEST(BlockScales, WrongSelectorsAreNamed) {
  const KindCase one{"", "mxf8f6f4.block_scale", "e4m3", "e4m3", 1}, two{"", "mxf4.block_scale", "e2m1", "e2m1", 2},
      four{"", "mxf4nvf4.block_scale.scale_vec::4X", "e2m1", "e2m1", 4, true};
  const auto expect = [](const std::string& found, const char* said) {
    EXPECT_NE(found.find(said), std::string::npos) << found;
  };
  EXPECT_EQ(RunWith(one, "3, 1", "3, 3"), "");
  expect(RunWith(one, "4, 0", "0, 0"), "has the byte-id 4 of A's scales; expected 0 to 3");
  expect(RunWith(one, "0, 2", "0, 0"), "has the thread-id 2 of A's scales; expected 0 or 1");
  expect(RunWith(one, "0, 0", "0, 4"), "has the thread-id 4 of B's scales; expected 0 to 3");
  expect(RunWith(two, "0, 0", "1, 0"), "has the byte-id 1 of B's scales; expected 0 or 2 with .scale_vec::2X");
  expect(RunWith(four, "2, 0", "0, 0"), "has the byte-id 2 of A's scales; expected 0 with .scale_vec::4X");
  expect(RunWith(one, "%r0, 0", "0, 0"), "has the byte-id 1 of A's scales, and thread 0 of the warp has 0");
  expect(RunWith(one, "0, 0", "0, 0", true), "that nothing has written");
}

// Rows of 16 elements that become bytes; what is behind them in their 16 bytes isn't written.
TEST(SpreadElements, AreLoaded) {
  for (const uint32_t bits : {4U, 6U}) {
    for (const uint32_t count : {1U, 2U, 4U}) {
      std::mt19937 random(7);
      std::vector<uint32_t> rows(size_t{32} * bits / 2);
      for (uint32_t& word : rows) word = static_cast<uint32_t>(random());
      std::string body =
          ".shared .align 16 .b8 s[512]; .reg .b32 %d<4>; mov.u32 %r1, s; mad.lo.u32 %r1, %r0, 16, %r1; mad.wide.u32 "
          "%rd10, "
          "%r0, " +
          std::to_string(2 * bits) + ", %rd1;\n";
      for (uint32_t w = 0; w < bits / 2; ++w) {
        body += "ld.global.b32 %r2, [%rd10+" + std::to_string(4 * w) + "]; st.shared.b32 [%r1+" +
                std::to_string(4 * w) + "], %r2;\n";
      }
      body += "bar.warp.sync 0xffffffff; ldmatrix.sync.aligned.m8n16.x" + std::to_string(count) + ".shared.b8x16." +
              (bits == 4 ? "b4x16_p64 " : "b6x16_p32 ") + ListRegisters("d", count) + ", [%r1];\n";
      for (uint32_t m = 0; m < count; ++m)
        body += "add.u64 %rd11, %rd0, %rd20; st.global.b32 [%rd11+" + std::to_string(128 * m) + "], %d" +
                std::to_string(m) + ";\n";
      TestMemory memory;
      const uint64_t out = memory.Room(512);
      ASSERT_EQ(RunText(Kernel(2, body), memory, {out, memory.Add(rows)}, {1, 32}), "");
      const auto found = memory.Read<uint8_t>(out, size_t{128} * count);
      for (uint32_t byte = 0; byte < 128 * count; ++byte) {
        uint32_t element = 0;
        for (uint32_t i = 0; i < bits; ++i) {
          const uint32_t at = byte / 16 * 16 * bits + byte % 16 * bits + i;
          element |= (rows[at / 32] >> at % 32 & 1) << i;
        }
        ASSERT_EQ(found[byte], element) << byte;
      }
    }
  }
}

std::string RefusalOf(const std::string& op) {
  try {
    Assemble(Kernel(1, ".reg .b32 %x<16>; " + op));
  } catch (const PtxError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(BlockScales, FormsThatThereArentAreRefused) {
  const std::string three = " {%x0, %x1, %x2, %x3}, {%x4, %x5, %x6, %x7}, {%x8, %x9}, {%x0, %x1, %x2, %x3}",
                    scales = ", %x10, {0, 0}, %x11, {0, 0};";
  EXPECT_EQ(
      RefusalOf("mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0" + three + scales),
      "accepted");
  for (const char* op : {"m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::2X.f32.e4m3.e4m3.f32.ue8m0",
                         "m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue4m3",
                         "m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue4m3",
                         "m16n8k64.row.col.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue4m3",
                         "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue8m0",
                         "m16n8k64.row.col.kind::mxf4.f32.e2m1.e2m1.f32.ue8m0"}) {
    const std::string found = RefusalOf("mma.sync.aligned." + std::string(op) + three + scales);
    EXPECT_NE(found.find(op), std::string::npos) << found;
    EXPECT_NE(found.find("isn't emulated: with .block_scale, .kind::mxf8f6f4 is with .scale_vec::1X"),
              std::string::npos)
        << found;
  }
  for (const char* op : {"m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e4m3.f32.ue8m0",
                         "m16n8k32.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0",
                         "m16n8k64.row.col.kind::mxf8f6f4.block_scale.f32.e2m1.e2m1.f32.ue8m0"}) {
    const std::string found = RefusalOf("mma.sync.aligned." + std::string(op) + three + scales);
    EXPECT_NE(found.find("there is no such shape of these types here"), std::string::npos) << found;
  }
  EXPECT_NE(RefusalOf("mma.sync.aligned.m16n8k32.row.col.f32.e2m1.e2m1.f32" + three + ";").find("no such shape"),
            std::string::npos);
}

}  // namespace
}  // namespace kernpack::emulator
