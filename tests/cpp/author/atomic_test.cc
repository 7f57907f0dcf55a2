// kernpack/atomic.h: no addition of several threads is lost, whatever the type.
#include <kernpack/atomic.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 4, kTimes = 500;

template <class F>
void OnThreads(F f) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&f] {
      for (int j = 0; j < kTimes; ++j) f();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

template <class T>
class Atomic : public testing::Test {};

using Types = testing::Types<float, double, kernpack::half, kernpack::bfloat16, int8_t, uint16_t, int32_t, int64_t>;
TYPED_TEST_SUITE(Atomic, Types);

TYPED_TEST(Atomic, EveryAdditionCounts) {
  TypeParam at[3] = {TypeParam(1), TypeParam(0), TypeParam(1)};  // an update must leave neighbours alone
  OnThreads([&] { kernpack::atomic_add(&at[1], TypeParam(1)); });
  // bf16 has no odd numbers from 256 on, where adding 1 rounds to what was there.
  const bool stops = std::is_same<TypeParam, kernpack::bfloat16>::value;
  EXPECT_EQ(static_cast<double>(at[1]), stops ? 256 : static_cast<double>(static_cast<TypeParam>(kThreads * kTimes)));
  EXPECT_EQ(static_cast<float>(at[0]), 1);
  EXPECT_EQ(static_cast<float>(at[2]), 1);
}

template <class T>
class AtomicComplex : public testing::Test {};

using Complex = testing::Types<std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(AtomicComplex, Complex);

TYPED_TEST(AtomicComplex, EveryAdditionCountsInBothParts) {
  TypeParam sum(1, 2);
  EXPECT_EQ(kernpack::atomic_add(&sum, TypeParam(1, -1)), TypeParam(1, 2));
  OnThreads([&] { kernpack::atomic_add(&sum, TypeParam(1, -1)); });
  EXPECT_EQ(sum, TypeParam(2 + kThreads * kTimes, 1 - kThreads * kTimes));
}

TEST(AtomicUpdate, GivesWhatWasThereBefore) {
  float most = 1;
  EXPECT_EQ(kernpack::atomic_update(&most, [](float before) { return std::max(before, 3.0f); }), 1);
  EXPECT_EQ(kernpack::atomic_add(&most, 2.0f), 3);
  EXPECT_EQ(most, 5);
  int64_t next = 0;
  OnThreads([&] { kernpack::atomic_update(&next, [](int64_t before) { return before + 1; }); });
  EXPECT_EQ(next, kThreads * kTimes);
}

}  // namespace
