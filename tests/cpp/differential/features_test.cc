// Random functions have the features that they should, as often as stated, and mean the same whatever memory held before.
#include <gtest/gtest.h>

#include "differential/agree.h"

namespace ir_test {
namespace {

class DifferentialFeatures : public testing::TestWithParam<Place> {};

TEST_P(DifferentialFeatures, OccurInTheirShareOfTheFunctions) {
  constexpr int kFunctions = 600;
  int counts[kFeatures] = {}, scheduled = 0;
  for (uint64_t seed = 0; seed < kFunctions; ++seed) {
    const RandomCase c = LoopCases(GetParam())(seed);
    ASSERT_NO_THROW(Verify(c.plain)) << Print(c.plain);
    if (GetParam() == Place::kDevice && seed < 150) {
      EXPECT_TRUE(FitsADevice(c.scheduled)) << Print(c.scheduled);
    }
    const Features found = FeatureFinder(c.plain, *c.plain.functions.back()).found;
    for (size_t i = 0; i < kFeatures; ++i) counts[i] += found.test(i);
    scheduled += !c.trace.empty();
  }
  for (size_t i = 0; i < kFeatures; ++i) {
    EXPECT_EQ(kShares[i].feature, static_cast<Feature>(i));
    EXPECT_GE(counts[i] * 100, kShares[i].Percent(GetParam()) * kFunctions) << kShares[i].name;
  }
  EXPECT_GT(scheduled * 100, kFunctions * kScheduledPercent * 2 / 3) << "too few of the primitives drawn are legal";
}

TEST_P(DifferentialFeatures, LeaveNothingUndefined) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    const RandomCase c = LoopCases(GetParam())(seed);
    EXPECT_TRUE(IsDefined(*c.plain.functions.back(), Lower(c.plain))) << "seed " << seed << "\n" << Print(c.plain);
  }
}

TEST_P(DifferentialFeatures, SchedulesOfStagesAreMostlyLegal) {
  int scheduled = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) scheduled += StageCases(GetParam())(seed).trace.size() >= 2;
  EXPECT_GT(scheduled, GetParam() == Place::kHost ? 80 : 40);
}

INSTANTIATE_TEST_SUITE_P(Places, DifferentialFeatures, testing::Values(Place::kHost, Place::kDevice),
                         [](const auto& place) { return place.param == Place::kHost ? "Host" : "Device"; });

}  // namespace
}  // namespace ir_test
