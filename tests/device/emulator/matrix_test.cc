// mma against sums over the fragments as the PTX manual lays them out, ldmatrix and stmatrix against plain loads.
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

#include "support.h"

#define KP_ISA Plain
#include "ops/small_float.h"

namespace kernpack::emulator {
namespace {

using Plain::Brain;
using Plain::E4m3;
using Plain::E5m2;
using Plain::Half;

// An element's place by the lane's group (lane / 4), its number in the group, and the element's index i.
struct At {
  uint32_t row, column;
};
using Layout = At (*)(uint32_t group, uint32_t in, uint32_t i);

enum class Of : uint8_t { kF16, kBf16, kTf32, kS8, kU8, kE4m3, kE5m2, kF32, kS32, kF64 };
uint32_t GetBits(Of of) {
  return of == Of::kF16 || of == Of::kBf16 ? 16 : of >= Of::kS8 && of <= Of::kE5m2 ? 8 : of == Of::kF64 ? 64 : 32;
}
double GetValue(Of of, uint64_t bits) {
  switch (of) {
    case Of::kF16:
      return Half::Read(static_cast<uint16_t>(bits));
    case Of::kBf16:
      return Brain::Read(static_cast<uint16_t>(bits));
    case Of::kTf32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits) & 0xffffe000U);
    case Of::kF32:
      return std::bit_cast<float>(static_cast<uint32_t>(bits));
    case Of::kS8:
      return static_cast<int8_t>(bits);
    case Of::kU8:
      return static_cast<uint8_t>(bits);
    case Of::kE4m3:
      return E4m3::Read(static_cast<uint8_t>(bits));
    case Of::kE5m2:
      return E5m2::Read(static_cast<uint8_t>(bits));
    case Of::kS32:
      return static_cast<int32_t>(bits);
    case Of::kF64:
      return std::bit_cast<double>(bits);
  }
  return 0;
}
uint64_t Write(Of of, double value) {
  if (of == Of::kF64) return std::bit_cast<uint64_t>(value);
  if (of == Of::kS32) return static_cast<uint32_t>(static_cast<int64_t>(value));
  if (of == Of::kF16) return std::isnan(value) ? 0x7fff : Half::Write(value);
  return std::isnan(value) ? 0x7fffffff : std::bit_cast<uint32_t>(static_cast<float>(value));
}

struct Product {
  const char* name;
  const char* op;
  uint32_t rows, depth;
  Of a, b, d;
  Layout in_a, in_b;  // as the manual says it, by i
};

constexpr Layout kInC = [](uint32_t g, uint32_t t, uint32_t i) { return At{i < 2 ? g : g + 8, t * 2 + (i & 1)}; };
constexpr Layout kA16 = [](uint32_t g, uint32_t t, uint32_t i) {
  const bool upper = i < 2 || (i >= 4 && i < 6);
  return At{upper ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
};
constexpr Layout kA8 = [](uint32_t g, uint32_t t, uint32_t i) { return At{i < 2 ? g : g + 8, t * 2 + (i & 1)}; };
constexpr Layout kB16 = [](uint32_t g, uint32_t t, uint32_t i) { return At{t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g}; };
constexpr Layout kATf = [](uint32_t g, uint32_t t, uint32_t i) {
  return At{i % 2 == 0 ? g : g + 8, i < 2 ? t : t + 4};
};
constexpr Layout kBTf = [](uint32_t g, uint32_t t, uint32_t i) { return At{i == 0 ? t : t + 4, g}; };
constexpr Layout kAByte = [](uint32_t g, uint32_t t, uint32_t i) {
  const bool upper = i < 4 || (i >= 8 && i < 12);
  return At{upper ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
};
constexpr Layout kBByte = [](uint32_t g, uint32_t t, uint32_t i) { return At{t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g}; };
constexpr Layout kARow = [](uint32_t g, uint32_t t, uint32_t) { return At{g, t}; };
constexpr Layout kAByteRow = [](uint32_t g, uint32_t t, uint32_t i) { return At{g, t * 4 + i}; };

constexpr Product kProducts[] = {
    {"F16K16", "m16n8k16.row.col.f32.f16.f16.f32", 16, 16, Of::kF16, Of::kF16, Of::kF32, kA16, kB16},
    {"F16K16ToF16", "m16n8k16.row.col.f16.f16.f16.f16", 16, 16, Of::kF16, Of::kF16, Of::kF16, kA16, kB16},
    {"F16K8", "m16n8k8.row.col.f32.f16.f16.f32", 16, 8, Of::kF16, Of::kF16, Of::kF32, kA8, kB16},
    {"Bf16K16", "m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, Of::kBf16, Of::kBf16, Of::kF32, kA16, kB16},
    {"Bf16K8", "m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, Of::kBf16, Of::kBf16, Of::kF32, kA8, kB16},
    {"Tf32K8", "m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, Of::kTf32, Of::kTf32, Of::kF32, kATf, kBTf},
    {"Tf32K4", "m16n8k4.row.col.f32.tf32.tf32.f32", 16, 4, Of::kTf32, Of::kTf32, Of::kF32, kATf, kBTf},
    {"S8K32", "m16n8k32.row.col.s32.s8.s8.s32", 16, 32, Of::kS8, Of::kS8, Of::kS32, kAByte, kBByte},
    {"U8S8K32", "m16n8k32.row.col.s32.u8.s8.s32", 16, 32, Of::kU8, Of::kS8, Of::kS32, kAByte, kBByte},
    {"S8K16", "m16n8k16.row.col.s32.s8.s8.s32", 16, 16, Of::kS8, Of::kS8, Of::kS32, kAByte, kBByte},
    {"U8OfEightRows", "m8n8k16.row.col.s32.u8.u8.s32", 8, 16, Of::kU8, Of::kU8, Of::kS32, kAByteRow, kBByte},
    {"E4m3K32", "m16n8k32.row.col.f32.e4m3.e4m3.f32", 16, 32, Of::kE4m3, Of::kE4m3, Of::kF32, kAByte, kBByte},
    {"E5m2E4m3K32", "m16n8k32.row.col.f32.e5m2.e4m3.f32", 16, 32, Of::kE5m2, Of::kE4m3, Of::kF32, kAByte, kBByte},
    {"E5m2K16", "m16n8k16.row.col.f32.e5m2.e5m2.f32", 16, 16, Of::kE5m2, Of::kE5m2, Of::kF32, kAByte, kBByte},
    {"E4m3K32ToF16", "m16n8k32.row.col.f16.e4m3.e4m3.f16", 16, 32, Of::kE4m3, Of::kE4m3, Of::kF16, kAByte, kBByte},
    {"F64", "m8n8k4.row.col.f64.f64.f64.f64", 8, 4, Of::kF64, Of::kF64, Of::kF64, kARow, kBTf},
};

// Bits of an element: ordinary numbers, and now and then an edge.
uint64_t Draw(Of of, std::mt19937& random) {
  const auto bits = static_cast<uint32_t>(random());
  if (of == Of::kS8 || of == Of::kU8) return bits % 8 == 0 ? (bits % 16 == 0 ? 0x80 : 0x7f) : bits >> 16 & 0xff;
  // A quarter of the exponents of eight bits, about 1: the rest would hide them in a sum.
  if (of == Of::kE4m3) return (bits & 0x80) | (0x28 + bits / 256 % 0x20);
  if (of == Of::kE5m2) return (bits & 0x80) | (0x34 + bits / 256 % 0x10);
  if (of == Of::kS32) return bits % 8 == 0 ? 0x7fffffff : bits;
  const double value = std::normal_distribution<double>()(random);
  if (of == Of::kF64) return std::bit_cast<uint64_t>(value);
  if (of == Of::kF16) return bits % 16 == 0 ? 1 + bits / 16 % 1023 : Half::Write(value);  // subnormal
  if (of == Of::kBf16) return Brain::Write(value);
  return std::bit_cast<uint32_t>(static_cast<float>(value));
}

struct Case {
  std::vector<uint32_t> a, b, c;  // words, register by register of 32 lanes (64-bit ones: two words a lane)
  std::vector<uint64_t> want;
  std::vector<double> magnitude;  // of what each sum adds
};

// Registers of a matrix whose element at (row, column) has those bits.
std::vector<uint32_t> Registers(uint32_t count, Of of, Layout layout, const std::function<uint64_t(At)>& bits) {
  const uint32_t width = GetBits(of), words = width == 64 ? 2 : 1, each = width >= 32 ? 1 : 32 / width;
  std::vector<uint32_t> out(size_t{count} * 32 * words);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t i = 0; i < count * each; ++i) {
      const uint64_t value = bits(layout(lane / 4, lane % 4, i));
      const size_t at = (size_t{i / each} * 32 + lane) * words;
      if (width == 64) {
        std::memcpy(&out[at], &value, 8);
      } else {
        out[at] |= static_cast<uint32_t>(value) << (i % each * width);
      }
    }
  }
  return out;
}

uint32_t CountRegisters(uint32_t elements, Of of) { return elements / 32 / (GetBits(of) >= 32 ? 1 : 32 / GetBits(of)); }

Case Make(const Product& p, uint32_t seed,
          const std::function<void(std::vector<uint64_t>*, std::vector<uint64_t>*)>& edit = {}) {
  std::mt19937 random(seed);
  std::vector<uint64_t> a(p.rows * p.depth), b(p.depth * 8), c(p.rows * 8);
  for (uint64_t& bits : a) bits = Draw(p.a, random);
  for (uint64_t& bits : b) bits = Draw(p.b, random);
  for (uint64_t& bits : c) bits = Draw(p.d, random);
  if (edit) edit(&a, &c);
  Case out;
  out.a = Registers(CountRegisters(p.rows * p.depth, p.a), p.a, p.in_a,
                    [&](At at) { return a[at.row * p.depth + at.column]; });
  out.b = Registers(CountRegisters(p.depth * 8, p.b), p.b, p.in_b, [&](At at) { return b[at.row * 8 + at.column]; });
  out.c = Registers(CountRegisters(p.rows * 8, p.d), p.d, kInC, [&](At at) { return c[at.row * 8 + at.column]; });
  for (uint32_t r = 0; r < p.rows; ++r) {
    for (uint32_t n = 0; n < 8; ++n) {
      double sum = GetValue(p.d, c[r * 8 + n]), magnitude = std::fabs(sum);
      for (uint32_t k = 0; k < p.depth; ++k) {
        const double x = GetValue(p.a, a[r * p.depth + k]), y = GetValue(p.b, b[k * 8 + n]);
        sum = p.d == Of::kF64 ? std::fma(x, y, sum) : sum + x * y;
        magnitude += std::fabs(x * y);
      }
      out.want.push_back(Write(p.d, sum));
      out.magnitude.push_back(magnitude);
    }
  }
  return out;
}

// The kernel: registers from parameters 0 to 2, the product's to parameter 3.
std::string Text(const Product& p, const char* modifier = "") {
  const bool wide = p.d == Of::kF64;
  const uint32_t size = wide ? 8 : 4, stride = 32 * size;
  const std::string type = wide ? "f64" : "b32", reg = wide ? "%fd" : "%r", lane = wide ? "%rd21" : "%rd20";
  std::string body = "mov.u64 %rd30, " + lane + ";", op = "mma.sync.aligned." + std::string(p.op);
  if (*modifier != 0) op.insert(op.find(".s32"), modifier);
  uint32_t next = 1;
  std::string vectors[4];
  const uint32_t counts[] = {CountRegisters(p.rows * p.depth, p.a), CountRegisters(p.depth * 8, p.b),
                             CountRegisters(p.rows * 8, p.d)};
  for (int which = 0; which < 3; ++which) {
    body += "add.s64 %rd31, %rd" + std::to_string(which) + ", %rd30;\n";
    for (uint32_t r = 0; r < counts[which]; ++r, ++next) {
      vectors[which] += (r == 0 ? "" : ", ") + reg + std::to_string(next);
      body +=
          "ld.global." + type + " " + reg + std::to_string(next) + ", [%rd31+" + std::to_string(r * stride) + "];\n";
    }
  }
  std::string stores = "add.s64 %rd31, %rd3, %rd30;\n";
  for (uint32_t r = 0; r < counts[2]; ++r, ++next) {
    vectors[3] += (r == 0 ? "" : ", ") + reg + std::to_string(next);
    stores +=
        "st.global." + type + " [%rd31+" + std::to_string(r * stride) + "], " + reg + std::to_string(next) + ";\n";
  }
  return Kernel(4, body + op + " {" + vectors[3] + "}, {" + vectors[0] + "}, {" + vectors[1] + "}, {" + vectors[2] +
                       "};\n" + stores);
}

std::vector<uint64_t> RunProduct(const Product& p, const Case& made, Shape shape = {}, const char* modifier = "") {
  TestMemory memory;
  const uint64_t a = memory.Add(made.a), b = memory.Add(made.b), c = memory.Add(made.c),
                 d = memory.Room(made.c.size() * 4);
  EXPECT_EQ(RunText(Text(p, modifier), memory, {a, b, c, d}, shape), "");
  const std::vector<uint32_t> words = memory.Read<uint32_t>(d, made.c.size());
  std::vector<uint64_t> out(p.rows * 8);
  const uint32_t width = GetBits(p.d), each = width == 16 ? 2 : 1;
  for (uint32_t lane = 0; lane < 32; ++lane) {
    for (uint32_t i = 0; i < p.rows * 8 / 32; ++i) {
      const At at = kInC(lane / 4, lane % 4, i);
      uint64_t value = words[i / each * 32 + lane] >> (i % each * 16);
      if (width == 16) value &= 0xffff;
      if (width == 64) std::memcpy(&value, &words[(size_t{i} * 32 + lane) * 2], 8);
      out[at.row * 8 + at.column] = value;
    }
  }
  return out;
}

class Multiplies : public testing::TestWithParam<Product> {};
TEST_P(Multiplies, AsTheManualLaysOut) {
  if (GpuDriver() != nullptr && (GetParam().d == Of::kF32 || GetParam().d == Of::kF16)) {
    GTEST_SKIP() << "a GPU doesn't round these sums once: tests/python/ptx/h200.json has its bits";
  }
  for (uint32_t seed = 1; seed < 6; ++seed) {
    const Case made = Make(GetParam(), seed);
    EXPECT_EQ(RunProduct(GetParam(), made), made.want) << seed;
  }
}
// The order of the sum isn't documented: results stay within what f32 may lose.
TEST_P(Multiplies, WithinItsBoundInEveryOrder) {
  const Product& p = GetParam();
  const Case made = Make(p, 9);
  for (const uint32_t order : {1U, 2U}) {
    const std::vector<uint64_t> got = RunProduct(p, made, {.mma_order = order});
    for (size_t i = 0; i < got.size(); ++i) {
      const double bound = p.d == Of::kF32   ? made.magnitude[i] * p.depth * 0x1p-24
                           : p.d == Of::kF16 ? made.magnitude[i] * 0x1p-10
                                             : 0;
      EXPECT_NEAR(GetValue(p.d, got[i]), GetValue(p.d, made.want[i]), bound) << order << " " << i;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Shapes, Multiplies, testing::ValuesIn(kProducts),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(MultipliesEdges, InfinityNanAndOverflow) {
  const auto edit = [](std::vector<uint64_t>* a, std::vector<uint64_t>* c) {
    (*a)[0] = 0x7c00;       // infinity in row 0
    (*a)[16] = 0x7e00;      // not a number in row 1
    (*c)[16] = 0x7bff;      // the largest of f16 in row 2
    (*a)[32] = 0x7bff;
  };
  const Case made = Make(kProducts[1], 3, edit);
  const std::vector<uint64_t> got = RunProduct(kProducts[1], made);
  EXPECT_EQ(got, made.want);
  EXPECT_EQ(got[8], 0x7fffU);
  EXPECT_EQ(got[0] & 0x7fff, 0x7c00U);
}

TEST(MultipliesEdges, IntegersWrapOrStop) {
  const Product& p = kProducts[7];
  Case made = Make(p, 3, [](std::vector<uint64_t>* a, std::vector<uint64_t>* c) {
    for (uint64_t& bits : *a) bits = 0;
    for (uint64_t& bits : *c) bits = 0x7fffffff;
    (*a)[0] = 1;
  });
  for (uint32_t& word : made.b) word = 0x01010101;
  EXPECT_EQ(RunProduct(p, made)[0], 0x80000000U);
  EXPECT_EQ(RunProduct(p, made, {}, ".satfinite")[0], 0x7fffffffU);
}

// 32 rows of 8 halves, numbered; every lane loads up to four matrices and stores its registers.
std::string Loads(const std::string& op, int count) {
  std::string body =
      ".shared .align 16 .b8 s[512]; mov.u32 %r1, s; shl.b32 %r2, %r0, 4; add.u32 %r3, %r1, %r2; mul.lo.u32 "
      "%r4, %r0, 8; ";
  for (int i = 0; i < 4; ++i)
    body += "add.u32 %r5, %r4, " + std::to_string(2 * i) +
            "; add.u32 %r6, %r5, 1; shl.b32 %r6, %r6, 16; or.b32 %r5, %r5, "
            "%r6; st.shared.u32 [%r3+" +
            std::to_string(4 * i) + "], %r5; ";
  body += "bar.warp.sync -1; " + op + " {%r10";
  for (int i = 1; i < count; ++i) body += ", %r" + std::to_string(10 + i);
  body += "}, [%r3]; add.s64 %rd2, %rd0, %rd20; ";
  for (int i = 0; i < count; ++i)
    body += "st.global.u32 [%rd2+" + std::to_string(128 * i) + "], %r" + std::to_string(10 + i) + "; ";
  return Kernel(1, body);
}

TEST(Matrices, AreLoaded) {
  for (const bool transposed : {false, true}) {
    for (const int count : {1, 2, 4}) {
      TestMemory memory;
      const uint64_t out = memory.Room(512);
      const std::string op =
          "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "") + ".shared.b16";
      ASSERT_EQ(RunText(Loads(op, count), memory, {out}), "") << op;
      const std::vector<uint32_t> got = memory.Read<uint32_t>(out, 32 * static_cast<size_t>(count));
      for (uint32_t m = 0; m < static_cast<uint32_t>(count); ++m) {
        for (uint32_t lane = 0; lane < 32; ++lane) {
          const auto element = [&](uint32_t row, uint32_t column) { return (m * 8 + row) * 8 + column; };
          const uint32_t g = lane / 4, t = lane % 4 * 2;
          const uint32_t low = transposed ? element(t, g) : element(g, t);
          const uint32_t high = transposed ? element(t + 1, g) : element(g, t + 1);
          EXPECT_EQ(got[m * 32 + lane], low | high << 16) << op << " matrix " << m << " lane " << lane;
        }
      }
    }
  }
}

// ldmatrix loads the matrix that stmatrix stored.
TEST(Matrices, AreStored) {
  for (const std::string suffix : {".x1", ".x2", ".x4", ".x4.trans"}) {
    TestMemory memory;
    const uint64_t out = memory.Room(512);
    const int count = suffix[2] - '0';
    std::string vector = "{%r10", stores;
    for (int i = 1; i < count; ++i) vector += ", %r" + std::to_string(10 + i);
    vector += "}";
    std::string loaded = vector;
    for (size_t at = 0; (at = loaded.find("%r1", at)) != std::string::npos; ++at) loaded.replace(at, 3, "%r2");
    for (int i = 0; i < count; ++i)
      stores += "st.global.u32 [%rd2+" + std::to_string(128 * i) + "], %r" + std::to_string(20 + i) + "; ";
    const std::string form = ".sync.aligned.m8n8" + suffix + ".shared.b16 ";
    ASSERT_EQ(
        RunText(Kernel(1,
                       ".shared .align 16 .b8 s[512]; mov.u32 %r1, s; shl.b32 %r2, %r0, 4; add.u32 %r3, %r1, %r2; "
                       "mul.lo.u32 %r10, %r0, 77777; add.u32 %r11, %r10, 1; add.u32 %r12, %r10, 2; add.u32 %r13, "
                       "%r10, 3; stmatrix" +
                           form + "[%r3], " + vector + "; bar.warp.sync -1; ldmatrix" + form + loaded +
                           ", [%r3]; add.s64 %rd2, %rd0, %rd20; " + stores),
                memory, {out}),
        "");
    const std::vector<uint32_t> got = memory.Read<uint32_t>(out, 32 * static_cast<size_t>(count));
    for (uint32_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], i % 32 * 77777 + i / 32) << suffix << " " << i;
  }
}

}  // namespace
}  // namespace kernpack::emulator
