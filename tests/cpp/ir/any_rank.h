// Functions whose tensors have any number of leading dimensions, for tests of any generator.
#pragma once

#include <gtest/gtest.h>

#include "differential/columns.h"

namespace ir_test {

inline IRModule AnyRankModule(const std::string& name) {
  return Parse("module \"" + name + R"("
func scale(x: f32[N...], k: f32) -> (o: f32[N...]) {
  vectorized(8) i in 0..N {
    o[i] = x[i] * k
  }
}
func rows(x: f32[N..., D], w: f32[D], seen!: f32[N...]) -> (o: f32[N..., D], s: f32[N...]) {
  parallel i in 0..N {
    seen[i] = seen[i] + 1.0
    s[i] = reduce(+, j in 0..D, sequential, x[i, j])
    for j in 0..D {
      o[i, j] = x[i, j] * w[j]
    }
  }
}
)");
}

// `run` is of AnyRankModule().
inline void ExpectAnyRank(const Runner& run) {
  const std::vector<std::vector<int64_t>> leadings = {{}, {4}, {2, 3}, {3, 1, 2, 2}, {2, 0, 3}, {0}};
  for (const std::vector<int64_t>& leading : leadings) {
    SCOPED_TRACE(testing::PrintToString(leading));
    std::vector<int64_t> rows = leading;
    rows.push_back(3);
    Array x(kF32, rows), w = Array::Of<float>(kF32, {3}, {1, 10, 100}), seen(kF32, leading), o(kF32, rows),
                         s(kF32, leading), scaled(kF32, rows);
    const size_t count = seen.bytes.size() / sizeof(float);
    for (size_t i = 0; i < count * 3; ++i) x.as<float>()[i] = static_cast<float>(i);
    EXPECT_EQ(run("scale", {x.Value(), Float(2), scaled.Value()}), "");
    EXPECT_EQ(run("rows", {x.Value(), w.Value(), seen.Value(), o.Value(), s.Value()}), "");
    for (size_t i = 0; i < count * 3; ++i) {
      const auto at = static_cast<float>(i);
      EXPECT_EQ(scaled.as<float>()[i], at * 2);
      EXPECT_EQ(o.as<float>()[i], at * w.as<float>()[i % 3]);
    }
    for (size_t i = 0; i < count; ++i) {
      EXPECT_EQ(s.as<float>()[i], static_cast<float>(9 * i + 3));
      EXPECT_EQ(seen.as<float>()[i], 1);
    }
  }
  Array scalar(kF32, {}), vector(kF32, {3}), w(kF32, {3}), wide(kF32, {2, 4}), rows(kF32, {2, 3}), seen(kF32, {2}),
      other(kF32, {3, 2});
  const auto expect_refused = [&](const std::string& argument, Array& x, Array& s, Array& o) {
    const std::string said = run("rows", {x.Value(), w.Value(), s.Value(), o.Value(), s.Value()});
    EXPECT_EQ(said.rfind("ValueError: rows: " + argument + ": ", 0), 0U) << said;
  };
  expect_refused("x", scalar, seen, scalar);
  expect_refused("w", wide, seen, wide);
  expect_refused("o", rows, seen, other);
  expect_refused("seen", rows, vector, rows);
}

}  // namespace ir_test
