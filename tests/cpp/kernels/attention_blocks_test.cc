// Attention of many rows, of floats, of bf16 pairs and by matrix tiles: packing, chunks, borders and masks. What stands in for
// instructions of bf16 and for AMX's tiles runs on any processor.
#include "attention/blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

namespace kk {
namespace {

float ToFloat(Bf16 value) {
  const uint32_t bits = uint32_t{value.bits} << 16;
  float number;
  std::memcpy(&number, &bits, sizeof number);
  return number;
}

struct Case {
  int64_t queries, keys, shared, width;
  bool causal;
  int64_t window, length;  // 0: all
  float scale, soft_cap;
  bool masked;
};

class AttentionBlocksTest : public ::testing::TestWithParam<Case> {
 protected:
  static std::vector<Bf16> Random(int64_t count, std::mt19937* random) {
    std::normal_distribution<float> normal;
    std::vector<Bf16> values(static_cast<size_t>(count));
    for (Bf16& value : values) {
      const float number = normal(*random);
      uint32_t bits;
      std::memcpy(&bits, &number, sizeof bits);
      value.bits = static_cast<uint16_t>(bits >> 16);
    }
    return values;
  }

  template <class Products>
  void Compare(double tolerance) const;

  // exp(score), unnormalised, of a query and a key; 0 where the query doesn't see it.
  double Weight(const AttentionArgs<Bf16>& args, int64_t head, int64_t query, int64_t key) const {
    const Case& c = GetParam();
    const int64_t length = c.length > 0 ? c.length : c.keys, last = c.causal ? length - c.queries + query : length - 1;
    if (key > last || key >= length || (c.window > 0 && key <= last - c.window)) return 0;
    double score = 0;
    for (int64_t d = 0; d < c.width; ++d) {
      score +=
          ToFloat(args.q[query * args.of_q.row + head * args.of_q.head + d]) * ToFloat(args.k[key * args.of_k.row + d]);
    }
    score *= c.scale;
    if (c.soft_cap > 0) score = c.soft_cap * std::tanh(score / c.soft_cap);
    if (c.masked) score += static_cast<const float*>(args.mask.data)[query * c.keys + key];
    return std::exp(score);
  }
};

template <class Products>
void AttentionBlocksTest::Compare(double tolerance) const {
  const Case& c = GetParam();
  std::mt19937 random(3);
  const std::vector<Bf16> q = Random(c.queries * c.shared * c.width, &random), k = Random(c.keys * c.width, &random),
                          v = Random(c.keys * c.width, &random);
  std::vector<float> mask(static_cast<size_t>(c.queries * c.keys));
  for (float& value : mask) value = static_cast<float>(random() % 100) / 50 - 1;
  const auto length = static_cast<int32_t>(c.length);
  AttentionArgs<Bf16> args = {};
  args.q = q.data(), args.k = k.data(), args.v = v.data();
  args.of_q = {0, c.shared * c.width, c.width};
  args.of_k = args.of_v = {0, c.width, c.width};
  args.batch = 1, args.queries = c.queries, args.heads = c.shared, args.keys = c.keys, args.groups = 1;
  args.width = c.width, args.scale = c.scale, args.soft_cap = c.soft_cap, args.causal = c.causal;
  args.window = c.window, args.lengths = c.length > 0 ? &length : nullptr;
  if (c.masked) args.mask = {MaskKind::kFloat, mask.data(), 0, 0, c.keys};

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
      for (int64_t d = 0; d < c.width; ++d) expected[d] += weight * ToFloat(v[key * c.width + d]);
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

std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  const Case& c = info.param;
  std::string name = std::to_string(c.queries) + "x" + std::to_string(c.keys) + "heads" + std::to_string(c.shared) +
                     "width" + std::to_string(c.width);
  if (c.causal) name += "causal";
  if (c.window > 0) name += "window";
  if (c.length > 0) name += "length";
  if (c.scale < 0) name += "negative";
  if (c.soft_cap > 0) name += "capped";
  if (c.masked) name += "masked";
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Borders, AttentionBlocksTest,
    ::testing::Values(
        Case{1, 1, 1, 1, false, 0, 0, 1, 0, false}, Case{17, 33, 1, 15, false, 0, 0, 0.3f, 0, false},
        Case{64, 256, 1, 64, false, 0, 0, 0.125f, 0, false}, Case{33, 257, 3, 64, true, 0, 0, 0.125f, 0, false},
        Case{70, 600, 2, 40, true, 100, 0, 0.2f, 0, false}, Case{40, 300, 1, 32, false, 0, 290, 0.2f, 0, false},
        Case{40, 300, 2, 32, true, 30, 270, 0.2f, 5, false}, Case{65, 520, 1, 33, false, 0, 0, -0.2f, 0, false},
        Case{40, 290, 2, 32, false, 0, 0, 0.2f, 0, true},
        Case{50, 20, 1, 16, true, 0, 0, 0.3f, 0, false}),  // the first queries see no key
    NameOf);

}  // namespace
}  // namespace kk
