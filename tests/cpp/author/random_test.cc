// kernpack/random.h: the numbers of the paper's own implementation, and their distribution.
#include <kernpack/random.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace {

using kernpack::Philox;

std::array<uint32_t, 4> Draw(Philox philox, uint64_t place, uint64_t stream) {
  const Philox::Block block = philox(place, stream);
  return {block.at[0], block.at[1], block.at[2], block.at[3]};
}

// Random123's known answers for philox4x32 with 10 rounds.
TEST(Random, GivesTheKnownAnswersOfPhilox) {
  using Block = std::array<uint32_t, 4>;
  EXPECT_EQ(Draw({{0, 0}}, 0, 0), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Draw({{0xffffffff, 0xffffffff}}, ~uint64_t{0}, ~uint64_t{0}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Draw({{0xa4093822, 0x299f31d0}}, 0x85a308d3243f6a88, 0x0370734413198a2e),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, FloatsAreUniformBelowOneOrNormal) {
  const int places = 50000;
  double uniform = 0, normal = 0, squares = 0;
  float least = 1, most = 0;
  for (uint64_t i = 0; i < places; ++i) {
    const Philox::Block block = Philox{{1, 2}}(i);
    for (int j = 0; j < 4; ++j) {
      const float u = block.uniform(j), n = block.normal(j);
      ASSERT_TRUE(std::isfinite(n));
      least = std::min(least, u);
      most = std::max(most, u);
      uniform += u;
      normal += n;
      squares += n * n;
    }
  }
  EXPECT_GE(least, 0);
  EXPECT_LT(most, 1);
  EXPECT_NEAR(uniform / (4 * places), 0.5, 0.003);  // 4.6 standard deviations; the key is fixed
  EXPECT_NEAR(normal / (4 * places), 0, 0.01);
  EXPECT_NEAR(squares / (4 * places), 1, 0.02);
  EXPECT_TRUE(std::isfinite((Philox::Block{{0, 0, 0, 0}}).normal(0)));
  EXPECT_TRUE(std::isfinite((Philox::Block{{~0u, ~0u, ~0u, ~0u}}).normal(1)));
}

}  // namespace
