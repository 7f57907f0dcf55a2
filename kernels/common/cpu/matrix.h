// Products of bf16 pairs by matrix tiles: AMX's registers of 16 rows by 64 bytes. A panel of pairs is what AMX reads as it lies.
//
// Tiles is AmxTiles, or PlainTiles, with which tests/cpp/kernels tries the loops and borders on any processor. Both add up as
// TDPBF16PS does: for each tile the even and the odd columns of A apart, denormals being zeros (PlainTiles keeps them).
#pragma once

#if defined(__AMX_BF16__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace kk {
namespace {

constexpr int kMatrixRows = 16;  // of a tile
constexpr int kMatrixColumns = 16;  // of a tile of the result or of the panel
constexpr int kMatrixSteps = 16;  // pairs that a tile of A has beside each other

// Of a block of the result, two tiles high: the rows of the upper and lower ones, and how many steps are multiplied at a time.
struct MatrixShape {
  int upper, lower, steps;
  bool operator==(const MatrixShape& other) const {
    return upper == other.upper && lower == other.lower && steps == other.steps;
  }
};

#if defined(__AMX_BF16__)
struct AmxTiles {
  // Intel's Software Developer's Manual, volume 1, 18.2: tile configuration.
  struct alignas(64) Configuration {
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
  };

  // Registers 0 to 3 hold the result, 4 and 5 A, 6 and 7 the panel.
  static void Configure(const MatrixShape& shape) {
    Configuration to = {};
    to.palette = 1;
    const auto set = [&to](int tile, int rows, int row_bytes) {
      if (rows == 0) return;  // the tile isn't used
      to.rows[tile] = static_cast<uint8_t>(rows);
      to.row_bytes[tile] = static_cast<uint16_t>(row_bytes);
    };
    for (int side = 0; side < 2; ++side) {
      set(side, shape.upper, 64), set(2 + side, shape.lower, 64), set(6 + side, shape.steps, 64);
    }
    set(4, shape.upper, 4 * shape.steps), set(5, shape.lower, 4 * shape.steps);
    __asm__ volatile("" ::"r"(&to) : "memory");  // GCC 12 takes it that 8 bytes are read
    _tile_loadconfig(&to);
  }
  static void Release() { _tile_release(); }

  template <bool kLower, bool kRight>
  struct Block {
    void Clear() {
      _tile_zero(0);
      if constexpr (kRight) _tile_zero(1);
      if constexpr (kLower) _tile_zero(2);
      if constexpr (kLower && kRight) _tile_zero(3);
    }
    void Load(const float* c, int64_t stride) {
      _tile_loadd(0, c, 4 * stride);
      if constexpr (kRight) _tile_loadd(1, c + kMatrixColumns, 4 * stride);
      if constexpr (kLower) _tile_loadd(2, c + kMatrixRows * stride, 4 * stride);
      if constexpr (kLower && kRight) _tile_loadd(3, c + kMatrixRows * stride + kMatrixColumns, 4 * stride);
    }
    void Step(const uint32_t* a, int64_t a_stride, const uint32_t* b, int64_t b_stride) {
      _tile_loadd(6, b, 4 * b_stride);
      _tile_loadd(4, a, 4 * a_stride);
      _tile_dpbf16ps(0, 4, 6);
      if constexpr (kRight) {
        _tile_loadd(7, b + kMatrixColumns, 4 * b_stride);
        _tile_dpbf16ps(1, 4, 7);
      }
      if constexpr (kLower) {
        _tile_loadd(5, a + kMatrixRows * a_stride, 4 * a_stride);
        _tile_dpbf16ps(2, 5, 6);
      }
      if constexpr (kLower && kRight) _tile_dpbf16ps(3, 5, 7);
    }
    void Store(float* c, int64_t stride) {
      _tile_stored(0, c, 4 * stride);
      if constexpr (kRight) _tile_stored(1, c + kMatrixColumns, 4 * stride);
      if constexpr (kLower) _tile_stored(2, c + kMatrixRows * stride, 4 * stride);
      if constexpr (kLower && kRight) _tile_stored(3, c + kMatrixRows * stride + kMatrixColumns, 4 * stride);
    }
  };
};
#endif

struct PlainTiles {
  static MatrixShape& Shape() {
    static thread_local MatrixShape shape;
    return shape;
  }
  static void Configure(const MatrixShape& shape) { Shape() = shape; }
  static void Release() { Shape() = {}; }

  template <bool kLower, bool kRight>
  struct Block {
    float sums[2 * kMatrixRows][2 * kMatrixColumns];

    template <class F>
    static void ForEach(F f) {
      for (int r = 0; r < Shape().upper; ++r) {
        for (int c = 0; c < (kRight ? 2 : 1) * kMatrixColumns; ++c) f(r, c);
      }
      for (int r = 0; kLower && r < Shape().lower; ++r) {
        for (int c = 0; c < (kRight ? 2 : 1) * kMatrixColumns; ++c) f(kMatrixRows + r, c);
      }
    }
    void Clear() {
      ForEach([&](int r, int c) { sums[r][c] = 0; });
    }
    void Load(const float* from, int64_t stride) {
      ForEach([&](int r, int c) { sums[r][c] = from[r * stride + c]; });
    }
    void Step(const uint32_t* a, int64_t a_stride, const uint32_t* b, int64_t b_stride) {
      const auto value = [](uint32_t high_half) {
        float number;
        std::memcpy(&number, &high_half, sizeof number);
        return number;
      };
      ForEach([&](int r, int c) {
        float even = 0, odd = 0;
        for (int k = 0; k < Shape().steps; ++k) {
          const uint32_t x = a[r * a_stride + k], y = b[k * b_stride + c];
          even += value(x << 16) * value(y << 16);
          odd += value(x & 0xffff0000) * value(y & 0xffff0000);
        }
        sums[r][c] += even + odd;
      });
    }
    void Store(float* to, int64_t stride) const {
      ForEach([&](int r, int c) { to[r * stride + c] = sums[r][c]; });
    }
  };
};

// The operands and results of a product of tiles: as Multiply of tile.h.
struct MatrixProduct {
  int64_t rows, columns;
  const uint32_t* a;
  int64_t a_stride;
  const uint32_t* panel;
  int64_t width, steps;
  float* c;
  int64_t c_stride;
};

// `count` steps from `first` on, a multiple of `per_tile`, of one block of the result.
template <class Tiles, bool kLower, bool kRight>
inline void MultiplyBlock(const MatrixProduct& p, int64_t row, int64_t column, int64_t first, int64_t count,
                          int per_tile, bool add) {
  __asm__ volatile("" ::: "memory");  // GCC 12 takes it that tiles are loaded from no memory
  typename Tiles::template Block<kLower, kRight> block;
  float* const c = p.c + row * p.c_stride + column;
  add ? block.Load(c, p.c_stride) : block.Clear();
  for (int64_t k = first; k < first + count; k += per_tile) {
    block.Step(p.a + row * p.a_stride + k, p.a_stride, p.panel + k * p.width + column, p.width);
  }
  block.Store(c, p.c_stride);
}

// The tile registers while products are made, one after the other; then as a caller expects them: not configured.
template <class Tiles>
class MatrixSession {
 public:
  MatrixSession() = default;
  MatrixSession(const MatrixSession&) = delete;
  MatrixSession& operator=(const MatrixSession&) = delete;
  ~MatrixSession() { Tiles::Release(); }

  // c[rows][columns] (+)= a[rows][steps] * panel[steps][columns of `width`], pairs; columns is a multiple of 16.
  void Multiply(const MatrixProduct& p, bool add) {
    const int64_t whole = p.steps / kMatrixSteps * kMatrixSteps;
    const int rest = static_cast<int>(p.steps - whole);
    if (whole > 0) MultiplySteps(p, 0, whole, kMatrixSteps, add);
    if (rest > 0) MultiplySteps(p, whole, rest, rest, add || whole > 0);
  }

 private:
  void Configure(const MatrixShape& shape) {
    if (shape == configured_) return;
    Tiles::Configure(shape);
    configured_ = shape;
  }

  // Down the rows first: two tiles' columns of the panel stay in the first cache, rows of A come from the second.
  void MultiplySteps(const MatrixProduct& p, int64_t first, int64_t count, int per_tile, bool add) {
    for (int64_t column = 0; column < p.columns; column += 2 * kMatrixColumns) {
      const bool right = column + kMatrixColumns < p.columns;
      for (int64_t row = 0; row < p.rows; row += 2 * kMatrixRows) {
        const int upper = static_cast<int>(std::min<int64_t>(kMatrixRows, p.rows - row));
        const int lower = static_cast<int>(std::clamp<int64_t>(p.rows - row - kMatrixRows, 0, kMatrixRows));
        Configure({upper, lower, per_tile});
        const auto block = lower > 0 ? (right ? MultiplyBlock<Tiles, true, true> : MultiplyBlock<Tiles, true, false>)
                                     : (right ? MultiplyBlock<Tiles, false, true> : MultiplyBlock<Tiles, false, false>);
        block(p, row, column, first, count, per_tile, add);
      }
    }
  }

  MatrixShape configured_ = {};
};

}  // namespace
}  // namespace kk
