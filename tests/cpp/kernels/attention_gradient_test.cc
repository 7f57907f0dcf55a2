// The gradient of attention, of floats and of bf16 pairs: packing, chunks, borders and masks. What stands in for the instructions of
// bf16 runs on any processor.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "attention/cpu/backward_block.h"
#include "attention_case.h"

namespace kk {
namespace {

class AttentionGradientTest : public ::testing::TestWithParam<AttentionCase> {
 protected:
  using Values = std::vector<double>;

  AttentionGradientTest() {
    const AttentionCase& c = GetParam();
    q_ = Random(c.queries * c.shared), d_out_ = Random(c.queries * c.shared);
    k_ = Random(c.keys), v_ = Random(c.keys);
    mask_.resize(static_cast<size_t>(c.queries * c.keys));
    for (float& value : mask_) value = random_() % 5 == 0 ? -INFINITY : static_cast<float>(random_() % 100) / 50 - 1;
    SetExpected();
  }

  std::vector<Bf16> Random(int64_t rows) { return RandomValues(rows * GetParam().width, &random_); }

  bool Sees(int64_t query, int64_t key) const {
    const AttentionCase& c = GetParam();
    return SeesKey(c, query, key) && !(c.masked && mask_[query * c.keys + key] == -INFINITY);
  }

  static double Dot(const std::vector<Bf16>& a, int64_t i, const std::vector<Bf16>& b, int64_t j, int64_t width) {
    double sum = 0;
    for (int64_t d = 0; d < width; ++d) sum += double{Number(a[i * width + d])} * Number(b[j * width + d]);
    return sum;
  }

  // Forward and backward, as the formulas say. Rows of q: [query][head].
  void SetExpected() {
    const AttentionCase& c = GetParam();
    const auto size = [&](int64_t rows) { return static_cast<size_t>(rows * c.width); };
    const int64_t rows = c.queries * c.shared;
    out_.resize(size(rows)), lse_.resize(static_cast<size_t>(rows));
    d_q_.assign(size(rows), 0), d_k_.assign(size(c.keys), 0), d_v_.assign(size(c.keys), 0);
    for (int64_t row = 0; row < rows; ++row) {
      const int64_t query = row / c.shared;
      Values scores(static_cast<size_t>(c.keys), -INFINITY), slopes(static_cast<size_t>(c.keys)), out(size(1), 0);
      double all = 0;
      for (int64_t key = 0; key < c.keys; ++key) {
        if (!Sees(query, key)) continue;
        double score = Dot(q_, row, k_, key, c.width) * c.scale;
        slopes[key] = c.scale;
        if (c.soft_cap > 0) {
          const double t = std::tanh(score / c.soft_cap);
          score = c.soft_cap * t, slopes[key] *= 1 - t * t;
        }
        scores[key] = score + (c.masked ? mask_[query * c.keys + key] : 0);
        all += std::exp(scores[key]);
      }
      lse_[row % c.shared * c.queries + query] = all == 0 ? INFINITY : static_cast<float>(std::log(all));
      const auto weight = [&](int64_t key) { return all == 0 ? 0 : std::exp(scores[key]) / all; };
      double delta = 0;
      for (int64_t d = 0; d < c.width; ++d) {
        for (int64_t key = 0; key < c.keys; ++key) out[d] += weight(key) * Number(v_[key * c.width + d]);
        out_[row * c.width + d] = Rounded(out[d]);
        delta += out[d] * Number(d_out_[row * c.width + d]);
      }
      for (int64_t key = 0; key < c.keys; ++key) {
        const double slope = weight(key) * (Dot(d_out_, row, v_, key, c.width) - delta) * slopes[key];
        for (int64_t d = 0; d < c.width; ++d) {
          d_v_[key * c.width + d] += weight(key) * Number(d_out_[row * c.width + d]);
          d_q_[row * c.width + d] += slope * Number(k_[key * c.width + d]);
          d_k_[key * c.width + d] += slope * Number(q_[row * c.width + d]);
        }
      }
    }
  }

  template <class Products>
  void Compare(double tolerance) {
    const AttentionCase& c = GetParam();
    const auto length = static_cast<int32_t>(c.length);
    AttentionGradientArgs<Bf16> args = {};
    args.forward = MakeArgs(c, q_.data(), k_.data(), v_.data(), &length, mask_.data());
    std::vector<Bf16> d_q(q_.size());
    args.d_out = d_out_.data(), args.out = out_.data(), args.lse = lse_.data(), args.d_q = d_q.data();

    const int64_t padded = PaddedWidth(c.width);
    std::vector<float> memory(static_cast<size_t>(AttentionGradientScratch(c.width)), NAN);
    std::vector<float> d_k(static_cast<size_t>(c.keys * padded), NAN), d_v = d_k;
    RunGradient<Bf16, Products>(args, {0, 0, 0, 1}, d_k.data(), d_v.data(), memory.data());
    const auto expect = [&](const char* name, const Values& expected, auto at) {
      double largest = 1e-30;
      for (const double value : expected) largest = std::max(largest, std::abs(value));
      for (size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(at(i), expected[i], tolerance * largest) << name << ", row " << i / c.width;
      }
    };
    expect("d_q", d_q_, [&](size_t i) { return Number(d_q[i]); });
    expect("d_k", d_k_, [&](size_t i) { return d_k[i / c.width * padded + i % c.width]; });
    expect("d_v", d_v_, [&](size_t i) { return d_v[i / c.width * padded + i % c.width]; });
  }

  std::mt19937 random_{5};
  std::vector<Bf16> q_, k_, v_, d_out_, out_;
  std::vector<float> mask_, lse_;
  Values d_q_, d_k_, d_v_;
};

TEST_P(AttentionGradientTest, OfFloatsAgreesWithTheSumsInDouble) { Compare<FloatGradient<Bf16>>(0.01); }

TEST_P(AttentionGradientTest, OfPairsAgreesWithTheSumsInDouble) { Compare<PairGradient>(0.02); }

INSTANTIATE_TEST_SUITE_P(Borders, AttentionGradientTest,
                         ::testing::Values(AttentionCase{1, 1, 1, 1, false, 0, 0, 1, 0, false},
                                           AttentionCase{17, 33, 1, 15, false, 0, 0, 0.3f, 0, false},
                                           AttentionCase{64, 120, 1, 64, false, 0, 0, 0.125f, 0, false},
                                           AttentionCase{65, 121, 3, 64, true, 0, 0, 0.125f, 0, false},
                                           AttentionCase{70, 250, 2, 40, true, 30, 0, 0.2f, 0, false},
                                           AttentionCase{40, 150, 1, 32, false, 0, 131, 0.2f, 0, false},
                                           AttentionCase{40, 150, 2, 32, true, 30, 131, 0.2f, 5, false},
                                           AttentionCase{3, 130, 1, 33, false, 0, 0, -0.2f, 0, false},
                                           AttentionCase{40, 140, 2, 7, false, 0, 0, 0.2f, 4, true},
                                           AttentionCase{50, 20, 1, 16, true, 0, 0, 0.3f, 0,
                                                         false}),  // the first queries see no key
                         GetName);

}  // namespace
}  // namespace kk
