// Products of prepared rows with panels of dense weights.
#include <algorithm>

#include "common/cpu/row.h"
#include "common/cpu/pairs.h"
#include "common/cpu/tile.h"
#include "dense.h"

namespace kk {
namespace {

// A vector of `count` values, `stride` apart; zeros beyond them.
template <class T>
inline VF Gather(const T* from, int64_t stride, int64_t count) {
  if (stride == 1) return count >= kLanes ? Pack<T>::Load(from) : Get(from, Part{static_cast<int>(count)});
  T values[kLanes] = {};
  for (int64_t i = 0; i < count && i < kLanes; ++i) values[i] = from[i * stride];
  return Pack<T>::Load(values);
}

// tile[i], for each i below kLanes: elements (row, column + i) of kLanes rows; zeros beyond the matrix.
template <class T>
inline void LoadColumns(const Matrix<T>& m, int64_t row, int64_t column, VF (&tile)[kLanes]) {
  const int64_t rows = m.rows - row, columns = m.columns - column;
  const T* from = m.data + row * m.row_stride + column * m.column_stride;
  if (m.column_stride == 1 && m.row_stride != 1) {
    for (int64_t r = 0; r < kLanes; ++r) tile[r] = r < rows ? Gather(from + r * m.row_stride, 1, columns) : VF{};
    Transpose(tile);
  } else {
    for (int64_t c = 0; c < kLanes; ++c) {
      tile[c] = c < columns ? Gather(from + c * m.column_stride, m.row_stride, rows) : VF{};
    }
  }
}

// Columns [first, first + count) of rows [row, row + kDenseRows), count even: panel[column][kDenseRows].
template <class T>
void Unpack(const Matrix<T>& m, int64_t row, int64_t first, int64_t count, float* panel) {
  for (int64_t r = 0; r < kDenseRows && row + r < m.rows; r += kLanes) {
    for (int64_t c = 0; c < count; c += kLanes) {
      VF tile[kLanes];
      LoadColumns(m, row + r, first + c, tile);
      const int64_t here = std::min<int64_t>(kLanes, count - c);
      for (int64_t i = 0; i < here; ++i) Pack<float>::Store(panel + (c + i) * kDenseRows + r, tile[i]);
    }
  }
}

// panel[column / 2][kDenseRows] of pairs.
template <class T>
void Unpack(const Matrix<T>& m, int64_t row, int64_t first, int64_t count, uint32_t* panel) {
  if constexpr (std::is_same_v<T, Bf16>) {
    if (m.column_stride == 1) {
      return TransposePairs(m.data + row * m.row_stride + first, m.row_stride, std::min(kDenseRows, m.rows - row),
                            std::min(count, m.columns - first), panel, kDenseRows);
    }
  }
  for (int64_t r = 0; r < kDenseRows && row + r < m.rows; r += kLanes) {
    for (int64_t c = 0; c < count; c += kLanes) {
      VF tile[kLanes];
      LoadColumns(m, row + r, first + c, tile);
      const int64_t here = std::min<int64_t>(kLanes, count - c);
      for (int64_t i = 0; i < here; i += 2) {
        const VU pairs = Bf16Pairs(tile[i], tile[i + 1]);
        std::memcpy(panel + (c + i) / 2 * kDenseRows + r, &pairs, sizeof pairs);
      }
    }
  }
}

// Of the packed columns c and c + 1, which begin at `packed`: the vectors of rows [r, r + kLanes).
template <class T>
inline void LoadPacked(const T* packed, int64_t r, VF& even, VF& odd) {
  if constexpr (std::is_same_v<T, float>) {
    even = Pack<T>::Load(packed + r), odd = Pack<T>::Load(packed + kDenseRows + r);
  } else if constexpr (std::is_same_v<T, Bf16>) {
    const VU pairs = LoadBits(packed + 2 * r);
    even = (VF)(pairs << 16), odd = (VF)(pairs & 0xffff0000);
  } else {
    const VF low = Pack<T>::Load(packed + 2 * r), high = Pack<T>::Load(packed + 2 * r + kLanes);
    even = EvenLanes(low, high), odd = OddLanes(low, high);
  }
}

// f(c, r, even, odd) for all vectors of two of the packed columns [0, count) each.
template <class T, class Use>
void ForPackedPairs(const T* packed, int64_t count, Use f) {
  for (int64_t c = 0; c < count; c += 2) {
    for (int64_t r = 0; r < kDenseRows; r += kLanes) {
      VF even, odd;
      LoadPacked(packed + c * kDenseRows, r, even, odd);
      f(c, r, even, odd);
    }
  }
}

template <class T>
void UnpackPacked(const T* packed, int64_t count, float* panel) {
  ForPackedPairs(packed, count, [&](int64_t c, int64_t r, VF even, VF odd) {
    Pack<float>::Store(panel + c * kDenseRows + r, even);
    Pack<float>::Store(panel + (c + 1) * kDenseRows + r, odd);
  });
}

template <class T>
void UnpackPacked(const T* packed, int64_t count, uint32_t* panel) {
  ForPackedPairs(packed, count, [&](int64_t c, int64_t r, VF even, VF odd) {
    const VU pairs = Bf16Pairs(even, odd);
    std::memcpy(panel + c / 2 * kDenseRows + r, &pairs, sizeof pairs);
  });
}

// Columns [first, first + count) of a panel as the tiles read them: where they lie, or unpacked.
template <class Item, class T>
const Item* Panel(const DenseWeight<T>& b, int64_t panel, int64_t first, int64_t count, float* unpacked) {
  auto* to = reinterpret_cast<Item*>(unpacked);
  if (!b.packed) {
    Unpack(b.matrix, panel * kDenseRows, first, count, to);
    return to;
  }
  const T* from = b.packed + (panel * PackedColumns(b.matrix.columns) + first) * kDenseRows;
  if constexpr (std::is_same_v<T, Item> || (std::is_same_v<T, Bf16> && std::is_same_v<Item, uint32_t>)) {
    return reinterpret_cast<const Item*>(from);
  } else {
    UnpackPacked(from, count, to);
    return to;
  }
}

template <class Steps, int kPerStep, class T>
void Multiplied(const DenseWeight<T>& b, const DenseRows& a, int64_t panel, int64_t row, int64_t rows, float* unpacked,
                float* sums) {
  using Item = typename Steps::Item;
  const auto* x = static_cast<const Item*>(a.data) + row * a.stride / kPerStep;
  const int64_t columns = (std::min(kDenseRows, b.matrix.rows - panel * kDenseRows) + kLanes - 1) / kLanes * kLanes;
  // Pairs take half the memory; where they lie in a packed weight, each result is stored once.
  const bool in_place = kPerStep == 2 && b.packed && std::is_same_v<T, Bf16>;
  const int64_t at_a_time = in_place ? PackedColumns(a.columns) : kPerStep * kDenseColumns;
  for (int64_t first = 0; first < a.columns; first += at_a_time) {
    const int64_t count = std::min(at_a_time, PackedColumns(a.columns) - first);
    const Item* items = Panel<Item>(b, panel, first, count, unpacked);
    const int64_t steps = kPerStep == 2 ? count / 2 : std::min(count, a.columns - first);
    Multiply<Steps>(rows, columns, x + first / kPerStep, a.stride / kPerStep, items, kDenseRows, steps, sums,
                    kDenseRows, first > 0);
  }
  if (a.columns == 0) std::fill(sums, sums + rows * kDenseRows, 0.0f);
}

}  // namespace

template <class Level>
bool DenseChoice<Level>::HasPairs() {
  return kHasBf16Products;
}
template struct DenseChoice<KP_VARIANT>;

template <class Level, class T>
void PrepareRows(const Matrix<T>& a, bool pairs, void* to, int64_t begin, int64_t end) {
  const int64_t stride = PackedColumns(a.columns);
  const auto put = [&](int64_t row, int64_t column, int64_t count, VF value) {
    const auto extent = Part{static_cast<int>(std::min<int64_t>(count, kLanes))};
    const auto store = [&](auto* at) { count >= kLanes ? Put(at, Whole{}, value) : Put(at, extent, value); };
    pairs ? store(static_cast<Bf16*>(to) + row * stride + column)
          : store(static_cast<float*>(to) + row * stride + column);
  };
  if (a.row_stride != 1 || a.column_stride == 1) {
    for (int64_t r = begin; r < end; ++r) {
      for (int64_t c = 0; c < stride; c += kLanes) {
        put(r, c, stride - c, Gather(a.data + r * a.row_stride + c * a.column_stride, a.column_stride, a.columns - c));
      }
    }
    return;
  }
  for (int64_t r = begin; r < end; r += kLanes) {
    for (int64_t c = 0; c < stride; c += kLanes) {
      VF tile[kLanes];
      LoadColumns(a, r, c, tile);
      Transpose(tile);
      for (int64_t i = 0; i < kLanes && r + i < end; ++i) put(r + i, c, stride - c, tile[i]);
    }
  }
}

template <class Level, class T>
void DensePanel(const DenseWeight<T>& b, const DenseRows& a, int64_t panel, int64_t row, int64_t rows, float* unpacked,
                float* sums) {
  a.pairs ? Multiplied<PairSteps, 2>(b, a, panel, row, rows, unpacked, sums)
          : Multiplied<FloatSteps, 1>(b, a, panel, row, rows, unpacked, sums);
}

template <class Level, class T>
void DenseDots(const Matrix<T>& b, const DenseRows& a, int64_t panel, float* sums) {
  const int64_t first = panel * kDenseRows, count = std::min(kDenseRows, b.rows - first);
  for (int64_t n = 0; n < count; ++n) {
    const T* weights = b.data + (first + n) * b.row_stride;
    for (int64_t r = 0; r < a.rows; ++r) {
      const float* x = static_cast<const float*>(a.data) + r * a.stride;
      sums[r * kDenseRows + n] = static_cast<float>(RowSum<float>(
          a.columns, [&](int64_t i, auto extent) { return Get(x + i, extent) * Get(weights + i, extent); }));
    }
  }
}

#define KK_INSTANTIATE(T)                                                                                             \
  template void PrepareRows<KP_VARIANT, T>(const Matrix<T>&, bool, void*, int64_t, int64_t);                          \
  template void DensePanel<KP_VARIANT, T>(const DenseWeight<T>&, const DenseRows&, int64_t, int64_t, int64_t, float*, \
                                          float*);                                                                    \
  template void DenseDots<KP_VARIANT, T>(const Matrix<T>&, const DenseRows&, int64_t, float*);
KK_LINEAR_TYPES(KK_INSTANTIATE)

}  // namespace kk
