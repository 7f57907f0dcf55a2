// Rows by index: looked up, or added up where their indices say.
#pragma once

#include <numeric>
#include <vector>

#include "ops.h"

namespace kk {

template <class F>
void DispatchIndex(kp::DType dtype, F f) {
  kp::dispatch<int32_t, int64_t>(dtype, [&](auto t) { f(Tag<typename decltype(t)::type>()); });
}

// IndexError at the first index outside [0, table_rows).
template <class I>
void CheckIndices(const char* op, const I* indices, int64_t count, int64_t table_rows) {
  for (int64_t i = 0; i < count; ++i) {
    KP_CHECK(indices[i] >= 0 && indices[i] < table_rows, IndexError)
        << op << ": indices: element " << i << " is " << static_cast<int64_t>(indices[i])
        << ", out of range for a table of " << table_rows << " rows (expected 0 to " << table_rows - 1 << ')';
  }
}

// No index: every row counts.
constexpr int64_t kNoIndex = -1;

// The table's row of each index; zeros for the index `left_out`.
inline void LookUp(const char* op, kp::TensorView table, kp::TensorView indices, kp::MutTensorView out,
                   int64_t left_out = kNoIndex) {
  DispatchIndex(indices.dtype(), [&](auto tag) {
    using I = typename decltype(tag)::Type;
    const I* rows = Data<I>(indices);
    CheckIndices(op, rows, indices.numel(), table.size(0));
    if (out.numel() == 0) return;
    const int64_t width = table.size(1);
    const auto row_bytes = static_cast<size_t>(width * table.itemsize());
    const char* from = Data<char>(table);
    char* to = Data<char>(out);
    ForRows(indices.numel(), width, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        char* row = to + static_cast<size_t>(i) * row_bytes;
        if (rows[i] == left_out) {
          std::memset(row, 0, row_bytes);
        } else {
          std::memcpy(row, from + static_cast<size_t>(rows[i]) * row_bytes, row_bytes);
        }
      }
    });
  });
}

// Places grouped by their indices: group g's places are order[starts[g]] to order[starts[g + 1] - 1], ascending. `left_out` has none.
struct Groups {
  std::vector<int64_t> order, starts;

  int64_t count() const { return static_cast<int64_t>(starts.size()) - 1; }
  int64_t first(int64_t g) const { return order[static_cast<size_t>(starts[static_cast<size_t>(g)])]; }
  const int64_t* places(int64_t g) const { return order.data() + starts[static_cast<size_t>(g)]; }
  int64_t size(int64_t g) const { return starts[static_cast<size_t>(g) + 1] - starts[static_cast<size_t>(g)]; }
};

// A radix sort: indices are below table_rows.
template <class I>
Groups GroupByIndex(const I* indices, int64_t count, int64_t table_rows, int64_t left_out = kNoIndex) {
  constexpr int kBits = 11;
  Groups groups;
  std::vector<int64_t>& order = groups.order;
  order.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    if (indices[i] != left_out) order.push_back(i);
  }
  std::vector<int64_t> sorted(order.size());
  for (int shift = 0; shift < 63 && (table_rows - 1) >> shift > 0; shift += kBits) {
    std::vector<int64_t> next((1 << kBits) + 1);
    const auto bucket = [&](int64_t place) { return (indices[place] >> shift) & ((1 << kBits) - 1); };
    for (const int64_t place : order) ++next[static_cast<size_t>(bucket(place)) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (const int64_t place : order) sorted[static_cast<size_t>(next[static_cast<size_t>(bucket(place))]++)] = place;
    order.swap(sorted);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    if (i == 0 || indices[order[i]] != indices[order[i - 1]]) groups.starts.push_back(static_cast<int64_t>(i));
  }
  groups.starts.push_back(static_cast<int64_t>(order.size()));
  return groups;
}

// f(g, the row of `out` that group g's index names) for each group; rows that no group names become zeros. In parallel over rows.
template <class T, class I, class F>
void FillRows(const Groups& groups, const I* indices, kp::MutTensorView out, F f) {
  const int64_t width = out.size(1);
  const auto row_of = [&](int64_t g) { return g < groups.count() ? indices[groups.first(g)] : out.size(0); };
  const int64_t each = static_cast<int64_t>(groups.order.size()) / std::max<int64_t>(out.size(0), 1);
  ForRows(out.size(0), width * (1 + each), [&](int64_t begin, int64_t end) {
    int64_t g = 0;  // the first group of a row from `begin` on
    for (int64_t left = groups.count(); left > 0;) {
      const int64_t half = left / 2;
      if (row_of(g + half) < begin) {
        g += half + 1;
        left -= half + 1;
      } else {
        left = half;
      }
    }
    for (int64_t row = begin; row < end; ++row) {
      T* to = Data<T>(out) + row * width;
      if (row_of(g) == row) {
        f(g++, to);
      } else {
        std::memset(to, 0, static_cast<size_t>(width) * sizeof(T));
      }
    }
  });
}

// Adds the rows of x [indices, D] up where their indices say; rows of `out` that no index names are zeros. Each sum is rounded once and
// in the same order on any number of threads.
template <class Level>
void AddUp(const char* op, kp::TensorView x, kp::TensorView indices, kp::MutTensorView out,
           int64_t left_out = kNoIndex) {
  DispatchIndex(indices.dtype(), [&](auto index_tag) {
    using I = typename decltype(index_tag)::Type;
    const I* rows = Data<I>(indices);
    const int64_t width = out.size(1);
    CheckIndices(op, rows, indices.numel(), out.size(0));
    const Groups groups = GroupByIndex(rows, indices.numel(), out.size(0), left_out);
    DispatchFloat(out.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      FillRows<T>(groups, rows, out, [&](int64_t g, T* to) {
        SumRows<Level, T, T>(Data<T>(x), groups.places(g), groups.size(g), 1.0, to, width);
      });
    });
  });
}

}  // namespace kk
