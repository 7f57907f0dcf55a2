// The error of functions of one f32, in units of the last place of the result, over every float of 32 bits or every n-th,
// against the C library in double precision, whose own error is 2^-29 of such a unit.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <ostream>
#include <thread>
#include <vector>

namespace ir_test {

// |got - want| in units of the last place that f32 has at `want`; beyond the largest finite number in those before it.
// No calls and no branches that data decide: this runs 2^32 times a function.
inline double UlpsApart(float got, double want) {
  constexpr double kInfinity = 0x1p128;  // what infinity rounds from
  const auto clamped = [](double x) { return x > kInfinity ? kInfinity : x < -kInfinity ? -kInfinity : x; };
  const double magnitude = std::fabs(want), largest = std::numeric_limits<float>::max();
  const uint64_t exponent = std::bit_cast<uint64_t>(magnitude > largest ? largest : magnitude) >> 52;
  const double units = std::bit_cast<double>((2 * 1023 + 23 - std::max<uint64_t>(exponent, 1023 - 126)) << 52);
  const bool nan = want != want, got_nan = got != got;
  const double error = std::fabs(clamped(got) - clamped(want)) * units;
  return nan || got_nan ? (nan && got_nan ? 0 : HUGE_VAL) : error;
}

struct FunctionF32 {
  const char* name;
  void (*exact)(const float* x, double* y, size_t n);
  double limit;  // ulp
};
inline void PrintTo(const FunctionF32& f, std::ostream* out) { *out << f.name; }

template <auto f>
void EachExactly(const float* x, double* y, size_t n) {
  for (size_t i = 0; i < n; ++i) y[i] = f(static_cast<double>(x[i]));
}

inline constexpr FunctionF32 kFunctionsF32[] = {
    {"exp", EachExactly<[](double x) { return std::exp(x); }>, 2},
    {"log", EachExactly<[](double x) { return std::log(x); }>, 2},
    {"tanh", EachExactly<[](double x) { return std::tanh(x); }>, 4},
    {"erf", EachExactly<[](double x) { return std::erf(x); }>, 4},
    {"sigmoid", EachExactly<[](double x) {
       const double e = std::exp(-std::fabs(x));
       return (x < 0 ? e : 1) / (1 + e);
     }>,
     3},
    {"sin", EachExactly<[](double x) { return std::sin(x); }>, 1},
    {"cos", EachExactly<[](double x) { return std::cos(x); }>, 1},
    // Rounded as IEEE 754 says, by the processor or by a few operations of C.
    {"sqrt", EachExactly<[](double x) { return std::sqrt(x); }>, 0.5},
    {"floor", EachExactly<[](double x) { return std::floor(x); }>, 0},
    {"ceil", EachExactly<[](double x) { return std::ceil(x); }>, 0},
    {"trunc", EachExactly<[](double x) { return std::trunc(x); }>, 0},
    {"round", EachExactly<[](double x) { return std::nearbyint(x); }>, 0},
};

struct LargestError {
  double ulp = 0;
  float at = 0;
  void Add(double error, float x) {
    if (error > ulp) *this = {error, x};
  }
};

// y[i] = the function, as compiled in some way, of x[i]. Runs in several threads at once.
using ApplyF32 = std::function<void(const float* x, float* y, size_t n)>;

// Of every `step`-th float, for each way of compiling, in as many threads as there are processors.
template <size_t kWays>
std::array<LargestError, kWays> LargestErrors(const FunctionF32& f, const std::array<ApplyF32, kWays>& ways,
                                              uint64_t step) {
  constexpr uint64_t kChunk = 1 << 14;
  const uint64_t count = ((uint64_t{1} << 32) + step - 1) / step, chunks = (count + kChunk - 1) / kChunk;
  std::atomic<uint64_t> next{0};
  const auto measure = [&](std::array<LargestError, kWays>* worst) {
    std::vector<float> x(kChunk), got(kChunk);
    std::vector<double> exact(kChunk), error(kChunk);
    for (uint64_t chunk; (chunk = next++) < chunks;) {
      const size_t n = std::min(kChunk, count - chunk * kChunk);
      for (size_t i = 0; i < n; ++i) x[i] = std::bit_cast<float>(static_cast<uint32_t>((chunk * kChunk + i) * step));
      f.exact(x.data(), exact.data(), n);
      for (size_t way = 0; way < kWays; ++way) {
        ways[way](x.data(), got.data(), n);
        for (size_t i = 0; i < n; ++i) error[i] = UlpsApart(got[i], exact[i]);
        const size_t at = static_cast<size_t>(std::max_element(error.begin(), error.begin() + n) - error.begin());
        (*worst)[way].Add(error[at], x[at]);
      }
    }
  };
  std::vector<std::array<LargestError, kWays>> parts(std::max(1U, std::thread::hardware_concurrency()));
  std::vector<std::thread> threads;
  for (auto& part : parts) threads.emplace_back(measure, &part);
  for (std::thread& thread : threads) thread.join();
  std::array<LargestError, kWays> worst;
  for (const auto& part : parts) {
    for (size_t way = 0; way < kWays; ++way) worst[way].Add(part[way].ulp, part[way].at);
  }
  return worst;
}

}  // namespace ir_test
