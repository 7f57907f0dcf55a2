// argmax, sample.
#include <limits>

#include "sampling/contract.h"
#include "sampling/philox.h"
#include "row.h"

namespace kk {
namespace {

struct SampleOptions {
  int64_t seed, step;
  double temperature;
  int64_t top_k;
  double top_p, min_p;
};

// An element of a row with probability exp((x - largest) * scale) beside the sum of all. The block first, then in it.
template <class Level, class T>
int32_t PickOfRow(const T* x, int64_t count, float largest, double scale, double u) {
  std::vector<double> sums;
  double total = 0;
  for (int64_t begin = 0; begin < count; begin += kLogitBlock) {
    sums.push_back(
        SumOfExp<Level, T>(x + begin, std::min(kLogitBlock, count - begin), largest, static_cast<float>(scale)));
    total += sums.back();
  }
  double rest = u * total;
  size_t block = 0;
  while (block + 1 < sums.size() && rest >= sums[block]) rest -= sums[block++];
  const int64_t begin = static_cast<int64_t>(block) * kLogitBlock, n = std::min(kLogitBlock, count - begin);
  float values[kLogitBlock];
  ToFloats<Level, T>(x + begin, n, values);
  int64_t chosen = 0;
  for (int64_t i = 0; i < n; ++i) {
    const double weight = std::exp((static_cast<double>(values[i]) - largest) * scale);
    if (weight > 0) chosen = i;
    rest -= weight;
    if (rest < 0) break;
  }
  return static_cast<int32_t>(begin + chosen);
}

// The one of `weights` at which their running sum passes u parts of `total`.
int64_t Pick(const std::vector<double>& weights, double total, double u) {
  double sum = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i];
    if (sum > u * total) return static_cast<int64_t>(i);
  }
  size_t last = weights.size() - 1;
  while (last > 0 && weights[last] == 0) --last;
  return static_cast<int64_t>(last);
}

template <class Level, class T>
int32_t SampleRow(const T* x, int64_t count, int64_t number, const SampleOptions& options) {
  const Row<Level, T> row(x, count);
  const float largest = row.Largest();
  if (options.temperature == 0 || !std::isfinite(largest)) return row.First();
  // Below the reciprocal of the largest float, every temperature is the same: no weight but the largest one's is left.
  const double scale = std::min(1 / options.temperature, static_cast<double>(std::numeric_limits<float>::max()));
  const double u = ToUniform(
      Philox(static_cast<uint64_t>(options.seed), static_cast<uint64_t>(number), static_cast<uint64_t>(options.step)));
  const float least =
      options.min_p > 0 ? static_cast<float>(largest + std::log(options.min_p) * options.temperature) : -INFINITY;
  const int64_t most = options.top_k > 0 ? std::min(options.top_k, count) : count;
  // top_p is a part of the sum of the tokens that top_k and min_p leave. If they leave all, the row is summed once, and only as many
  // candidates are sorted as top_p needs.
  const bool all = most == count && options.min_p <= 0;
  if (all && options.top_p >= 1) return PickOfRow<Level, T>(x, count, largest, scale, u);
  double total = all ? SumOfExp<Level, T>(x, count, largest, static_cast<float>(scale)) : 0;
  for (int64_t wanted = all && options.top_p < 1 ? std::min<int64_t>(256, most) : most;;
       wanted = std::min(most, wanted * 8)) {
    const std::vector<Candidate> found = Largest(row, wanted, least);
    std::vector<double> weights;
    double sum = 0;
    for (const Candidate& c : found) {
      weights.push_back(std::exp((static_cast<double>(c.value) - largest) * scale));
      sum += weights.back();
    }
    if (!all || wanted == most) total = sum;
    if (options.top_p < 1) {
      if (wanted < most && sum < options.top_p * total) continue;
      double kept = 0;
      size_t n = 0;
      while (n < weights.size() && (n == 0 || kept < options.top_p * total)) kept += weights[n++];
      weights.resize(n);
      total = kept;
    }
    return found[static_cast<size_t>(Pick(weights, total, u))].index;
  }
}

template <class Level>
void Argmax(kp::TensorView x, kp::MutTensorView index) {
  DispatchLogits(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const int64_t width = LastDim(x);
    ForRows(Rows(x), width, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        Data<int32_t>(index)[r] = Row<Level, T>(Data<T>(x) + r * width, width).First();
    });
  });
}

template <class Level>
void Sample(kp::TensorView logits, int64_t seed, int64_t step, double temperature, int64_t top_k, double top_p,
            double min_p, kp::MutTensorView token) {
  CheckSampleOptions(temperature, top_p, min_p);
  const SampleOptions options = {seed, step, temperature, top_k, top_p, min_p};
  DispatchLogits(logits.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::Type;
    const int64_t width = LastDim(logits);
    ForRows(Rows(logits), width, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        Data<int32_t>(token)[r] = SampleRow<Level, T>(Data<T>(logits) + r * width, width, r, options);
      }
    });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(argmax, "The index of the first largest element of each row. A NaN counts as the largest.");
KK_EXPORT(argmax, kk::Argmax, KK_ARGMAX_CONTRACT);
KP_DOC(sample,
       "Draws one of N tokens for each row, with the probabilities softmax(logits / temperature). The "
       "choice is limited in this order: to the top_k largest (0: all), to the tokens with at least min_p times the "
       "largest probability, to the most probable tokens that add up to top_p. temperature 0 is argmax. "
       "The random numbers are Philox4x32-10 of the seed, the step and the row's index: the same on every "
       "machine and with any number of threads. The rows of each shard of a batch count from 0: give each shard "
       "a seed of its own.");
KK_EXPORT(sample, kk::Sample, KK_SAMPLE_CONTRACT);
