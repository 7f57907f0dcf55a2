// Attention of many rows, of floats, of bf16 pairs and by matrix tiles: packing, chunks, borders and masks. What stands in for
// instructions of bf16 and for AMX's tiles runs on any processor.
#include "attention/cpu/blocks.h"

#include "attention_case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace kk {
namespace {

class AttentionBlocksTest : public ::testing::TestWithParam<AttentionCase> {
 protected:
  template <class Products>
  void Compare(double tolerance) const;

  // exp(score), unnormalised, of a query and a key; 0 where the query doesn't see it.
  double Weight(const AttentionArgs<Bf16>& args, int64_t head, int64_t query, int64_t key) const {
    const AttentionCase& c = GetParam();
    if (!SeesKey(c, query, key)) return 0;
    double score = 0;
    for (int64_t d = 0; d < c.width; ++d) {
      score +=
          Number(args.q[query * args.of_q.row + head * args.of_q.head + d]) * Number(args.k[key * args.of_k.row + d]);
    }
    score *= c.scale;
    if (c.soft_cap > 0) score = c.soft_cap * std::tanh(score / c.soft_cap);
    if (c.masked) score += static_cast<const float*>(args.mask.data)[query * c.keys + key];
    return std::exp(score);
  }
};

template <class Products>
void AttentionBlocksTest::Compare(double tolerance) const {
  const AttentionCase& c = GetParam();
  std::mt19937 random(3);
  const std::vector<Bf16> q = RandomValues(c.queries * c.shared * c.width, &random),
                          k = RandomValues(c.keys * c.width, &random), v = RandomValues(c.keys * c.width, &random);
  std::vector<float> mask(static_cast<size_t>(c.queries * c.keys));
  for (float& value : mask) value = static_cast<float>(random() % 100) / 50 - 1;
  const auto length = static_cast<int32_t>(c.length);
  const AttentionArgs<Bf16> args = MakeArgs(c, q.data(), k.data(), v.data(), &length, mask.data());
  const int64_t rows = c.queries * c.shared, padded = PaddedWidth(c.width);
  const AttentionTask task = {0, 0, 0, c.queries, 0, c.keys};
  std::vector<float> memory(static_cast<size_t>(AttentionScratch(rows, c.width)), NAN);
  std::vector<float> sums(static_cast<size_t>(rows * padded)), total(static_cast<size_t>(rows));
  std::vector<float> largest(static_cast<size_t>(rows), -INFINITY);
  RunBlocks<Products>(args, task, RowsOfTask<Bf16>(args, task), {sums.data(), largest.data(), total.data()}, 0,
                      c.length > 0 ? c.length : c.keys, memory.data());

  for (int64_t r = 0; r < rows; ++r) {
    std::vector<double> expected(static_cast<size_t>(c.width));
    double all = 0;
    for (int64_t key = 0; key < c.keys; ++key) {
      const double weight = Weight(args, r / c.queries, r % c.queries, key);
      all += weight;
      for (int64_t d = 0; d < c.width; ++d) expected[d] += weight * Number(v[key * c.width + d]);
    }
    if (all == 0) {
      ASSERT_EQ(total[r], 0) << "row " << r;
      continue;
    }
    ASSERT_NEAR(largest[r] + std::log(total[r]), std::log(all), tolerance / 20) << "row " << r;
    for (int64_t d = 0; d < c.width; ++d) {
      ASSERT_NEAR(sums[r * padded + d] / total[r], expected[d] / all, tolerance) << "row " << r << ", column " << d;
    }
  }
}

TEST_P(AttentionBlocksTest, OfFloatsAgreesWithTheSumsInDouble) { Compare<FloatProducts<Bf16>>(2e-5); }

TEST_P(AttentionBlocksTest, OfPairsAgreesWithTheSumsInDouble) { Compare<Bf16Products<VectorSession>>(0.01); }

TEST_P(AttentionBlocksTest, ByTilesAgreesWithTheSumsInDouble) { Compare<Bf16Products<TileSession<PlainTiles>>>(0.01); }

INSTANTIATE_TEST_SUITE_P(Borders, AttentionBlocksTest,
                         ::testing::Values(AttentionCase{1, 1, 1, 1, false, 0, 0, 1, 0, false},
                                           AttentionCase{17, 33, 1, 15, false, 0, 0, 0.3f, 0, false},
                                           AttentionCase{64, 256, 1, 64, false, 0, 0, 0.125f, 0, false},
                                           AttentionCase{33, 257, 3, 64, true, 0, 0, 0.125f, 0, false},
                                           AttentionCase{70, 600, 2, 40, true, 100, 0, 0.2f, 0, false},
                                           AttentionCase{40, 300, 1, 32, false, 0, 290, 0.2f, 0, false},
                                           AttentionCase{40, 300, 2, 32, true, 30, 270, 0.2f, 5, false},
                                           AttentionCase{65, 520, 1, 33, false, 0, 0, -0.2f, 0, false},
                                           AttentionCase{40, 290, 2, 32, false, 0, 0, 0.2f, 0, true},
                                           AttentionCase{50, 20, 1, 16, true, 0, 0, 0.3f, 0,
                                                         false}),  // the first queries see no key
                         GetName);

}  // namespace
}  // namespace kk
