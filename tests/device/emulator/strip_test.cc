// The fast sums of 16 rows against those of tiles, bit by bit, on each version of the host's code: any bits as operands, as subnormal
// numbers, zeros, overflow and infinities come in rows of their own.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "exec/matrix_elements.h"
#include "ops/strip.h"
#include "ops/table.h"

namespace kernpack::emulator::strips {
namespace {

using Register = std::array<uint32_t, kLanesOfStrip>;

struct Product {
  Element element, d;
  uint32_t words;  // along K
  Register a[4], b[2], c[4];

  uint32_t depth() const { return words * PerRegister(element); }
  uint32_t sums() const { return d == Element::kHalf ? 2 : 4; }
};

// Exponents of all numbers lie within `range` of each other, or are any.
uint32_t RandomFloat(std::mt19937* random, uint32_t mantissa, uint32_t exponents, uint32_t least, uint32_t range) {
  const uint32_t bits = (*random)();
  const uint32_t exponent = std::min(least + bits % range, (1U << exponents) - 1);
  if ((bits >> 20) % 16 == 0) return bits >> 31 << (mantissa + exponents);  // a zero
  return (bits >> 31) << (mantissa + exponents) | exponent << mantissa | ((*random)() & ((1U << mantissa) - 1));
}

uint32_t RandomWord(std::mt19937* random, Element element, uint32_t range, double from) {
  const auto one = [&](uint32_t mantissa, uint32_t exponents) {
    const auto most = static_cast<double>((1U << exponents) - 1);
    return RandomFloat(random, mantissa, exponents, static_cast<uint32_t>(from * most), range);
  };
  if (element == Element::kHalf) return one(10, 5) | one(10, 5) << 16;
  if (element == Element::kBrain) return one(7, 8) | one(7, 8) << 16;
  return one(23, 8);
}

// moderate: A's and B's exponents are all those for which table_strips.cc has the fastest code.
Product MakeProduct(std::mt19937* random, Element element, Element d, uint32_t words, bool moderate) {
  Product out{element, d, words, {}, {}, {}};
  const uint32_t ranges[] = {1, 4, 12, 40, 256};
  const auto fill = [&](auto& registers, Element of) {
    const bool is_c = static_cast<const void*>(&registers) == &out.c;
    const bool least_to_most = moderate && !is_c && of != Element::kHalf;
    const uint32_t range = least_to_most ? 60 + 45 + 1 : ranges[(*random)() % 5];
    const double from = least_to_most ? (127 - 45 + 0.5) / 255 : (*random)() % 101 / 100.0;
    for (Register& each : registers) {
      for (uint32_t& word : each) word = RandomWord(random, of, range, from);
    }
  };
  fill(out.a, element), fill(out.b, element), fill(out.c, d);
  return out;
}

// As RunMultiply did before there was faster code.
void SumByTile(const Product& of, const RowCode& code, Register* out) {
  Tile tile{};
  tile.rows = kStripRows, tile.depth = of.depth(), tile.a = of.element, tile.d = of.d;
  const uint32_t each = PerRegister(of.element), each_of_d = PerRegister(of.d);
  WithElement(of.element, [&](auto value) {
    for (uint32_t l = 0; l < kLanes; ++l) {
      for (uint32_t e = 0; e < each; ++e) {
        for (uint32_t r = 0; r < of.words / 2; ++r) {
          const MatrixPlace at = PlaceInA(kStripRows, l, r, e, each);
          tile.of_a[at.row][at.column] = value(of.a[r][l], e);
        }
        for (uint32_t r = 0; r < of.words / 4; ++r)
          tile.of_b[r * 4 * each + l % 4 * each + e][l / 4] = value(of.b[r][l], e);
      }
    }
  });
  WithElement(of.d, [&](auto value) {
    for (uint32_t l = 0; l < kLanes; ++l) {
      for (uint32_t n = 0; n < 4; ++n) {
        const MatrixPlace at = PlaceInC(l, n);
        tile.sums[at.row][at.column] = value(of.c[n / each_of_d][l], n % each_of_d);
      }
    }
  });
  code.sum_tile(&tile, kOrderOfH200);
  for (uint32_t l = 0; l < kLanes; ++l) {
    for (uint32_t n = 0; n < 4; ++n) {
      const MatrixPlace at = PlaceInC(l, n);
      PutSum(of.d, false, tile.sums[at.row][at.column], n, &out[n / each_of_d][l]);
    }
  }
}

bool IsFinite(const Product& of) {
  bool finite = true;
  const auto look = [&](const Register* registers, uint32_t count, Element element) {
    WithElement(element, [&](auto value) {
      for (uint32_t r = 0; r < count; ++r) {
        for (const uint32_t word : registers[r]) {
          for (uint32_t e = 0; e < PerRegister(element); ++e) finite = finite && std::isfinite(value(word, e));
        }
      }
    });
  };
  look(of.a, of.words / 2, of.element), look(of.b, of.words / 4, of.element), look(of.c, of.sums(), of.d);
  return finite;
}

struct SplitB {
  alignas(64) float fraction[kMostDepth * kColumns];
  alignas(64) int32_t exponent[kMostDepth * kColumns];
};

// A's rows and B's columns as wgmma reads them from shared memory.
void CompareAsRows(const Product& of, const StripCode& code, const StripA& a, const Register* expected) {
  uint32_t rows[kStripRows][kWordsAlongK], columns[kColumns][kWordsAlongK];
  for (uint32_t w = 0; w < kWordsAlongK; ++w) {
    for (uint32_t r = 0; r < kStripRows; ++r) rows[r][w] = of.a[w / 4 * 2 + r / 8][r % 8 * 4 + w % 4];
    for (uint32_t c = 0; c < kColumns; ++c) columns[c][w] = of.b[w / 4][c * 4 + w % 4];
  }
  StripA read;
  code.read_a(rows[0], of.element, false, &read);
  ASSERT_FALSE(read.special);
  ASSERT_EQ(std::memcmp(read.fraction, a.fraction, sizeof a.fraction[0] * of.depth()), 0);
  ASSERT_EQ(std::memcmp(read.exponent, a.exponent, sizeof a.exponent[0] * of.depth()), 0);
  SplitB b;
  ASSERT_FALSE(
      code.split(columns[0], kColumns * kWordsAlongK, kWordsAlongK, of.element, false, b.fraction, b.exponent));
  Register out[4] = {};
  StripSums sums{of.d, {}, {}};
  for (uint32_t r = 0; r < of.sums(); ++r) sums.from[r] = of.c[r].data(), sums.to[r] = out[r].data();
  ASSERT_TRUE(code.sum(read, {b.fraction, b.exponent, of.depth(), 4}, of.depth(), sums));
  for (uint32_t r = 0; r < of.sums(); ++r) ASSERT_EQ(out[r], expected[r]);
}

void Compare(const Product& of, const RowCode& rows, bool* finite, bool* moderate) {
  const StripCode& code = *rows.strips;
  const uint32_t* registers[4] = {of.a[0].data(), of.a[1].data(), of.a[2].data(), of.a[3].data()};
  StripA a;
  code.take_a(registers, of.words / 4, of.element, false, &a);
  SplitB b;
  const uint32_t words = of.words / 4 * kLanesOfStrip;
  const bool special = code.split(of.b[0].data(), words, words, of.element, false, b.fraction, b.exponent);
  Register out[4] = {}, expected[4] = {};
  StripSums sums{of.d, {}, {}};
  for (uint32_t r = 0; r < of.sums(); ++r) sums.from[r] = of.c[r].data(), sums.to[r] = out[r].data();
  const bool done = !a.special && !special && code.sum(a, {b.fraction, b.exponent, 4, kLanesOfStrip}, of.depth(), sums);
  *finite = IsFinite(of), *moderate = a.moderate;
  ASSERT_EQ(done, *finite);
  if (!done) return;
  SumByTile(of, rows, expected);
  for (uint32_t r = 0; r < of.sums(); ++r) ASSERT_EQ(out[r], expected[r]) << "register " << r;
  if (of.words == kWordsAlongK) CompareAsRows(of, code, a, expected);
}

TEST(Strips, HaveTheBitsOfTiles) {
  for (int level = 1; level <= 3; ++level) {
    UseHostLevel(level);
    uint32_t finite = 0, special = 0, moderate = 0;
    std::mt19937 random(7);
    for (const Element element : {Element::kHalf, Element::kBrain, Element::kTf32}) {
      for (const Element d : {Element::kFloat, Element::kHalf}) {
        for (const uint32_t words : {4U, 8U}) {
          for (int n = 0; n < 300; ++n) {
            SCOPED_TRACE(testing::Message()
                         << "level " << level << ", element " << static_cast<int>(element) << ", of d "
                         << static_cast<int>(d) << ", words " << words << ", product " << n);
            bool is_finite = false, is_moderate = false;
            Compare(MakeProduct(&random, element, d, words, n % 3 == 0), *HostRows(), &is_finite, &is_moderate);
            if (n % 3 == 0 && element != Element::kHalf) EXPECT_TRUE(is_moderate);
            if (HasFatalFailure()) return UseHostLevel(0);
            ++(is_finite ? finite : special);
            moderate += is_finite && is_moderate ? 1 : 0;
          }
        }
      }
    }
    EXPECT_GT(finite, 1000U);
    EXPECT_GT(special, 300U);
    EXPECT_GT(moderate, 800U);
    EXPECT_GT(finite - moderate, 300U);
  }
  UseHostLevel(0);
}

}  // namespace
}  // namespace kernpack::emulator::strips
