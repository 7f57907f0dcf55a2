// Products by matrix tiles: the loops, borders and accumulation, by the tiles that stand in for AMX's on any processor.
#include "common/cpu/matrix.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

namespace kk {
namespace {

float Half(uint32_t pair, int which) {
  const uint32_t bits = which == 0 ? pair << 16 : pair & 0xffff0000;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Two values of `next`, without the bits that bf16 hasn't.
template <class Next>
uint32_t MakePair(Next next) {
  uint32_t pair = 0;
  for (int i = 0; i < 2; ++i) {
    const float value = next();
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    pair |= bits >> 16 << (16 * i);
  }
  return pair;
}

// Small whole numbers: each sum is exact in any order.
uint32_t WholePair(std::mt19937* random) {
  return MakePair([&] { return static_cast<float>(static_cast<int>((*random)() % 17) - 8); });
}

struct Sizes {
  int64_t rows, columns, steps;
};

class MatrixTilesTest : public ::testing::TestWithParam<Sizes> {};

// Beyond the result nothing is written, and beyond A and the panel nothing is read: their ends are the ends of vectors, which
// the sanitized build watches.
TEST_P(MatrixTilesTest, ProductsAreExactAtEveryBorder) {
  constexpr int64_t kWidth = 64;
  constexpr float kUntouched = 12345;
  const auto [rows, columns, steps] = GetParam();
  std::mt19937 random(1);
  const int64_t a_stride = steps + 3, c_stride = columns + 5;
  std::vector<uint32_t> a((rows - 1) * a_stride + steps), panel((steps - 1) * kWidth + columns);
  for (uint32_t& pair : a) pair = WholePair(&random);
  for (uint32_t& pair : panel) pair = WholePair(&random);
  for (const bool add : {false, true}) {
    std::vector<float> c(static_cast<size_t>(rows * c_stride), kUntouched);
    MatrixSession<PlainTiles>().Multiply(
        {rows, columns, a.data(), a_stride, panel.data(), kWidth, steps, c.data(), c_stride}, add);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t n = 0; n < c_stride; ++n) {
        float expected = add || n >= columns ? kUntouched : 0;
        for (int64_t k = 0; n < columns && k < steps; ++k) {
          for (int i = 0; i < 2; ++i) expected += Half(a[r * a_stride + k], i) * Half(panel[k * kWidth + n], i);
        }
        ASSERT_EQ(c[r * c_stride + n], expected) << "row " << r << ", column " << n << ", add " << add;
      }
    }
  }
}

std::string GetName(const ::testing::TestParamInfo<Sizes>& info) {
  return std::to_string(info.param.rows) + "x" + std::to_string(info.param.columns) + "x" +
         std::to_string(info.param.steps);
}

INSTANTIATE_TEST_SUITE_P(Borders, MatrixTilesTest,
                         ::testing::Values(Sizes{1, 16, 1}, Sizes{5, 16, 15}, Sizes{16, 32, 16}, Sizes{17, 48, 17},
                                           Sizes{31, 64, 33}, Sizes{32, 64, 256}, Sizes{33, 64, 31}, Sizes{48, 16, 40},
                                           Sizes{70, 48, 288}),
                         GetName);

// Which is what makes a row's bits the same in a batch of any size.
TEST(MatrixTilesTest, ARowHasTheSameBitsAloneAndInABatch) {
  constexpr int64_t kRows = 70, kColumns = 48, kSteps = 100;
  std::mt19937 random(2);
  std::normal_distribution<float> normal;
  const auto pair = [&] { return MakePair([&] { return normal(random); }); };
  std::vector<uint32_t> a(kRows * kSteps), panel(kSteps * kColumns);
  for (uint32_t& value : a) value = pair();
  for (uint32_t& value : panel) value = pair();
  std::vector<float> all(kRows * kColumns), one(kColumns);
  MatrixSession<PlainTiles>().Multiply(
      {kRows, kColumns, a.data(), kSteps, panel.data(), kColumns, kSteps, all.data(), kColumns}, false);
  for (int64_t row = 0; row < kRows; ++row) {
    MatrixSession<PlainTiles>().Multiply(
        {1, kColumns, a.data() + row * kSteps, kSteps, panel.data(), kColumns, kSteps, one.data(), kColumns}, false);
    ASSERT_EQ(std::memcmp(one.data(), all.data() + row * kColumns, sizeof(float) * kColumns), 0) << "row " << row;
  }
}

}  // namespace
}  // namespace kk
