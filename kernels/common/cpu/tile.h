// The inner loop of every matrix product: a tile of the result in registers, rows of A times columns of a panel of B.
//
// A panel holds B's columns side by side, `width` lanes to a step of k. What a step is depends on the kind: one f32 a lane, or two
// bf16 of neighbouring k. A's rows hold the same in the order of k.
#pragma once

#include <type_traits>

#include "lanes.h"
#include "matrix.h"

namespace kk {
namespace {

// The tile's size, for the registers of the level: 24, 12 or 8 accumulators.
constexpr int kTileRows = kBytes == 64 ? 6 : kBytes == 32 ? 6 : 4;
constexpr int kTileVectors = kBytes == 64 ? 4 : 2;
constexpr int kTileColumns = kTileVectors * kLanes;

struct FloatSteps {
  using Item = float;
  using Value = VF;
  static VF Load(const float* p) { return Pack<float>::Load(p); }
  static VF Broadcast(const float* p) { return Splat(*p); }
  static VF Add(VF sum, VF a, VF b) { return sum + a * b; }
  static int64_t At(int64_t stride, int64_t row, int64_t k) { return row * stride + k; }
};

// The same with A's transpose in memory: `a_stride` lies between steps.
struct TransposedFloatSteps : FloatSteps {
  static int64_t At(int64_t stride, int64_t row, int64_t k) { return k * stride + row; }
};

struct PairSteps {
  using Item = uint32_t;  // two bf16
  using Value = VU;
  static VU Load(const uint32_t* p) { return LoadBits(p); }
  static VU Broadcast(const uint32_t* p) {
    uint32_t pair;
    std::memcpy(&pair, p, sizeof pair);  // it may have been written as two values
    return pair - VU{};
  }
  static VF Add(VF sum, VU a, VU b) { return AddPairProducts(sum, a, b); }
  static int64_t At(int64_t stride, int64_t row, int64_t k) { return row * stride + k; }
};

struct TransposedPairSteps : PairSteps {
  static int64_t At(int64_t stride, int64_t row, int64_t k) { return k * stride + row; }
};

// c[kRows][kVectors * kLanes] (+)= a[kRows][steps] * panel[steps][...].
template <class Steps, int kRows, int kVectors>
inline void Tile(const typename Steps::Item* a, int64_t a_stride, const typename Steps::Item* panel, int64_t width,
                 int64_t steps, float* c, int64_t c_stride, bool add) {
  VF sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sums[r][v] = add ? Pack<float>::Load(c + r * c_stride + v * kLanes) : VF{};
  }
  for (int64_t k = 0; k < steps; ++k) {
    typename Steps::Value b[kVectors];
    for (int v = 0; v < kVectors; ++v) b[v] = Steps::Load(panel + k * width + v * kLanes);
    for (int r = 0; r < kRows; ++r) {
      const typename Steps::Value x = Steps::Broadcast(a + Steps::At(a_stride, r, k));
      for (int v = 0; v < kVectors; ++v) sums[r][v] = Steps::Add(sums[r][v], x, b[v]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) Pack<float>::Store(c + r * c_stride + v * kLanes, sums[r][v]);
  }
}

// The same for `rows` rows, at most kRows: what is left at the lower border of a matrix.
template <class Steps, int kRows, int kVectors>
inline void LastTile(int64_t rows, const typename Steps::Item* a, int64_t a_stride, const typename Steps::Item* panel,
                     int64_t width, int64_t steps, float* c, int64_t c_stride, bool add) {
  if constexpr (kRows > 0) {
    if (rows == kRows) {
      Tile<Steps, kRows, kVectors>(a, a_stride, panel, width, steps, c, c_stride, add);
    } else {
      LastTile<Steps, kRows - 1, kVectors>(rows, a, a_stride, panel, width, steps, c, c_stride, add);
    }
  }
}

// c[rows][columns] (+)= a[rows][steps] * panel[steps][columns of `width`]; columns is a multiple of kLanes, and what c holds
// beyond it isn't touched.
template <class Steps>
inline void Multiply(int64_t rows, int64_t columns, const typename Steps::Item* a, int64_t a_stride,
                     const typename Steps::Item* panel, int64_t width, int64_t steps, float* c, int64_t c_stride,
                     bool add) {
#if defined(__AMX_BF16__)
  if constexpr (std::is_same_v<Steps, PairSteps>) {
    MatrixSession<AmxTiles> session;
    return session.Multiply({rows, columns, a, a_stride, panel, width, steps, c, c_stride}, add);
  }
#endif
  int64_t column = 0;
  const auto down = [&](auto vectors) {
    constexpr int kVectors = decltype(vectors)::value;
    int64_t row = 0;
    for (; row + kTileRows <= rows; row += kTileRows) {
      Tile<Steps, kTileRows, kVectors>(a + Steps::At(a_stride, row, 0), a_stride, panel + column, width, steps,
                                       c + row * c_stride + column, c_stride, add);
    }
    LastTile<Steps, kTileRows - 1, kVectors>(rows - row, a + Steps::At(a_stride, row, 0), a_stride, panel + column,
                                             width, steps, c + row * c_stride + column, c_stride, add);
    column += kVectors * kLanes;
  };
  while (column + kTileColumns <= columns) down(std::integral_constant<int, kTileVectors>());
  while (column < columns) down(std::integral_constant<int, 1>());
}

}  // namespace
}  // namespace kk
