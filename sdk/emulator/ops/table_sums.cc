// The sums of mma and wgmma.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/rounding.h"
#include "ops/rows.h"
#include "ops/tile.h"

namespace kernpack::emulator::KP_ISA {
namespace {

template <class F>
void AddRows(Tile* tile, F add) {
  for (uint32_t r = 0; r < tile->rows; ++r) {
    double row[kColumns];
    std::memcpy(row, tile->sums[r], sizeof row);
    for (uint32_t k = 0; k < tile->depth; ++k) {
      const double a = tile->of_a[r][k];
      for (uint32_t c = 0; c < kColumns; ++c) row[c] = add(a, tile->of_b[k][c], row[c]);
    }
    std::memcpy(tile->sums[r], row, sizeof row);
  }
}

// Which of the products a pass of the tensor cores adds: `count` of each four, from `first` on.
struct Part {
  uint32_t first, count;
};
constexpr Part kAll = {0, 4};
constexpr int32_t kLeastOfDoubles = -1022;

int32_t GetExponent(double value, int32_t least) {
  const auto biased = static_cast<int32_t>(__builtin_bit_cast(uint64_t, value) >> 52 & 0x7ff);
  return biased == 0 ? kNothing : std::max(biased - 1023, least);
}
double PowerOfTwo(int32_t exponent) { return __builtin_bit_cast(double, static_cast<uint64_t>(1023 + exponent) << 52); }

// All products of a sum, and what is there, are cut off at the same bit, and added without further loss. An infinity stays.
void AddAligned(Tile* tile, Part part, int32_t least) {
  int32_t of_b[kMostDepthOfTile][kColumns];
  for (uint32_t k = 0; k < tile->depth; ++k) {
    for (uint32_t c = 0; c < kColumns; ++c) of_b[k][c] = GetExponent(tile->of_b[k][c], least);
  }
  for (uint32_t r = 0; r < tile->rows; ++r) {
    double sums[kColumns];
    for (uint32_t c = 0; c < kColumns; ++c) sums[c] = std::isfinite(tile->sums[r][c]) ? tile->sums[r][c] : 0;
    int32_t greatest[kColumns];
    for (uint32_t c = 0; c < kColumns; ++c) {
      greatest[c] = std::max(kLeastOfSums, GetExponent(sums[c], kLeastOfFloats));
    }
    const auto for_products = [&](auto use) {
      for (uint32_t group = 0; group < tile->depth; group += 4) {
        for (uint32_t k = group + part.first; k < group + part.first + part.count; ++k) use(k);
      }
    };
    for_products([&](uint32_t k) {
      const int32_t of_a = GetExponent(tile->of_a[r][k], least);
      for (uint32_t c = 0; c < kColumns; ++c) greatest[c] = std::max(greatest[c], of_a + of_b[k][c]);
    });
    double scale[kColumns], total[kColumns];
    const auto cut = [](double value) { return static_cast<double>(static_cast<int32_t>(value)); };
    for (uint32_t c = 0; c < kColumns; ++c) {
      scale[c] = PowerOfTwo(kKept - greatest[c]);
      total[c] = cut(sums[c] * scale[c]);
    }
    for_products([&](uint32_t k) {
      const double a = tile->of_a[r][k];
      for (uint32_t c = 0; c < kColumns; ++c) total[c] += cut(a * tile->of_b[k][c] * scale[c]);
    });
    for (uint32_t c = 0; c < kColumns; ++c) {
      double& sum = tile->sums[r][c];
      sum = std::isfinite(sum) ? total[c] * PowerOfTwo(greatest[c] - kKept) : sum;
    }
  }
}

void ToFloats(Tile* tile) {
  for (uint32_t r = 0; r < tile->rows; ++r) {
    for (double& sum : tile->sums[r]) sum = ToFloat(sum);
  }
}

void ToHalves(Tile* tile) {
  for (uint32_t r = 0; r < tile->rows; ++r) {
    for (double& sum : tile->sums[r]) sum = ToHalf(sum);
  }
}
void Round(Tile* tile) { return tile->d == Element::kFloat ? ToFloats(tile) : ToHalves(tile); }

// As halves, the first two of each four products before the others. What was there is added in the type of the sum.
void SumEights(Tile* tile) {
  double before[kMostRows][kColumns];
  std::memcpy(before, tile->sums, sizeof before);
  std::memset(tile->sums, 0, sizeof tile->sums);
  for (const Part part : {Part{0, 2}, Part{2, 2}}) {
    AddAligned(tile, part, kLeastOfHalves);
    Round(tile);
  }
  for (uint32_t r = 0; r < tile->rows; ++r) {
    for (uint32_t c = 0; c < kColumns; ++c) {
      const double sum = tile->sums[r][c] + before[r][c];
      tile->sums[r][c] = tile->d == Element::kFloat ? static_cast<float>(sum) : sum;
    }
  }
}

bool IsEight(Element of) { return of == Element::kE4m3 || of == Element::kE5m2; }

// In f64, which holds all but the last bits: as if D were rounded once. Of f64, fma in order.
void SumWide(Tile* tile) {
  if (tile->d == Element::kDouble)
    return AddRows(tile, [](double a, double b, double sum) { return std::fma(a, b, sum); });
  AddRows(tile, [](double a, double b, double sum) { return sum + a * b; });
}

// In f32: in order, or groups of four from the last on.
void SumInFloat(Tile* tile, bool groups_from_the_back) {
  for (uint32_t r = 0; r < tile->rows; ++r) {
    for (uint32_t c = 0; c < kColumns; ++c) {
      auto sum = static_cast<float>(tile->sums[r][c]);
      for (uint32_t k = 0; k < tile->depth; ++k) {
        const uint32_t at = groups_from_the_back ? (tile->depth - 4 - k / 4 * 4) + k % 4 : k;
        sum += static_cast<float>(tile->of_a[r][at] * tile->of_b[at][c]);
      }
      tile->sums[r][c] = static_cast<double>(sum);
    }
  }
}

// True if one of the numbers isn't finite.
bool HasSpecial(const double* numbers, uint32_t count) {
  constexpr uint64_t kExponent = uint64_t{0x7ff} << 52;
  uint64_t found = 0;
  for (uint32_t i = 0; i < count; ++i)
    found |= (__builtin_bit_cast(uint64_t, numbers[i]) & kExponent) == kExponent ? uint64_t{1} : uint64_t{0};
  return found != 0;
}
bool HasSpecial(const Tile& tile) {
  for (uint32_t r = 0; r < tile.rows; ++r) {
    if (HasSpecial(tile.of_a[r], tile.depth)) return true;
  }
  return HasSpecial(tile.of_b[0], tile.depth * kColumns) || HasSpecial(tile.sums[0], tile.rows * kColumns);
}

void SumFinite(Tile* tile) {
  if (tile->of_kind) {
    AddAligned(tile, kAll, kLeastOfDoubles);
    return Round(tile);
  }
  if (IsEight(tile->a)) return SumEights(tile);
  AddAligned(tile, kAll, tile->a == Element::kHalf ? kLeastOfHalves : kLeastOfFloats);
  Round(tile);
}

// As the tensor cores of an H200 do. The manual leaves it open; this gives the bits that one gave (tests/python/ptx).
void SumAsH200(Tile* tile) {
  if (!HasSpecial(*tile)) return SumFinite(tile);
  // Results that aren't finite follow IEEE 754, whatever the order.
  Tile wide = *tile;
  bool rows[kMostRows] = {}, columns[kColumns] = {};  // which aren't
  const auto clear = [&](double* value, bool* of) {
    if (std::isfinite(*value)) return;
    *value = 0, *of = true;
  };
  for (uint32_t k = 0; k < tile->depth; ++k) {
    for (uint32_t r = 0; r < tile->rows; ++r) clear(&tile->of_a[r][k], &rows[r]);
    for (uint32_t c = 0; c < kColumns; ++c) clear(&tile->of_b[k][c], &columns[c]);
  }
  bool sums[kMostRows][kColumns] = {};
  for (uint32_t r = 0; r < tile->rows; ++r) {
    for (uint32_t c = 0; c < kColumns; ++c) clear(&tile->sums[r][c], &sums[r][c]);
  }
  SumFinite(tile);
  SumWide(&wide);
  for (uint32_t r = 0; r < tile->rows; ++r) {
    for (uint32_t c = 0; c < kColumns; ++c) {
      if (rows[r] || columns[c] || sums[r][c]) tile->sums[r][c] = wide.sums[r][c];
    }
  }
}

}  // namespace

extern void SumTile(Tile* tile, uint32_t order);
void SumTile(Tile* tile, uint32_t order) {
  const bool exact = tile->d == Element::kDouble || tile->d == Element::kInteger;
  if (order == kOrderOfH200 && !exact) return SumAsH200(tile);
  if (order == 0 || exact) return SumWide(tile);
  SumInFloat(tile, order == 2);
}

}  // namespace kernpack::emulator::KP_ISA
