// embedding_bag: the rows of each bag in one, and the gradients of the table and of the weights.
#include <cmath>

#include "common/cpu/values.h"
#include "embedding/contract.h"
#include "common/cpu/lookup.h"
#include "common/cpu/segments.h"

namespace kk {
namespace {

enum class Bag { kSum, kMean, kMax };

Bag ParseBag(kp::StringView mode) { return mode == "sum" ? Bag::kSum : mode == "mean" ? Bag::kMean : Bag::kMax; }

// The bags of a call, checked.
template <class I>
struct Bags {
  const I* indices;
  int64_t padding;
  std::vector<int64_t> bounds;

  Bags(const char* op, kp::TensorView table, kp::TensorView given, kp::TensorView offsets, bool weighted, Bag mode,
       int64_t padding_idx)
      : indices(Data<I>(given)), padding(padding_idx), bounds(Bounds(offsets, given.size(0), "index", "indices")) {
    CheckIndices(op, indices, given.size(0), table.size(0));
    KP_CHECK(!weighted || mode == Bag::kSum, ValueError)
        << op << ": weights: expected them with mode=\"sum\" only, got mode=\"" << (mode == Bag::kMean ? "mean" : "max")
        << "\": leave them out, or use \"sum\"";
  }

  int64_t count() const { return static_cast<int64_t>(bounds.size()) - 1; }

  // f(place, row of the table) of each index of bag b that isn't padding.
  template <class F>
  void For(int64_t b, F f) const {
    for (int64_t i = bounds[static_cast<size_t>(b)]; i < bounds[static_cast<size_t>(b) + 1]; ++i) {
      if (indices[i] != padding) f(i, static_cast<int64_t>(indices[i]));
    }
  }

  int64_t size(int64_t b) const {
    int64_t size = 0;
    For(b, [&](int64_t, int64_t) { ++size; });
    return size;
  }
};

template <class Level>
void EmbeddingBag(kp::TensorView table, kp::TensorView indices, kp::TensorView offsets,
                  std::optional<kp::TensorView> weights, kp::StringView mode_name, int64_t padding_idx,
                  kp::MutTensorView out) {
  const Bag mode = ParseBag(mode_name);
  DispatchIndex(indices.dtype(), [&](auto index_tag) {
    const Bags<typename decltype(index_tag)::Type> bags("embedding_bag", table, indices, offsets, weights.has_value(),
                                                        mode, padding_idx);
    const int64_t width = table.size(1);
    const int64_t each = indices.numel() / std::max<int64_t>(bags.count(), 1);
    DispatchFloat(table.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      ForRows(bags.count(), width * std::max<int64_t>(each, 1), [&](int64_t begin, int64_t end) {
        std::vector<int64_t> rows;
        std::vector<ComputeType<T>> shares;
        for (int64_t b = begin; b < end; ++b) {
          rows.clear(), shares.clear();
          bags.For(b, [&](int64_t place, int64_t row) {
            rows.push_back(row);
            if (weights) shares.push_back(Load(Data<T>(*weights)[place]));
          });
          const auto count = static_cast<int64_t>(rows.size());
          T* to = Data<T>(out) + b * width;
          if (weights) {
            SumWeightedRows<Level, T>(Data<T>(table), rows.data(), shares.data(), count, to, width);
          } else if (mode == Bag::kMax && count > 0) {
            MaxRows<Level, T>(Data<T>(table), rows.data(), count, to, width);
          } else {
            const double scale = mode == Bag::kMean && count > 0 ? 1.0 / static_cast<double>(count) : 1.0;
            SumRows<Level, T, T>(Data<T>(table), rows.data(), count, scale, to, width);
          }
        }
      });
    });
  });
}

// The place whose row gave each bag's maximum of each column: the first one of equals, a NaN before any number.
template <class T, class I>
std::vector<int64_t> LargestPlaces(kp::TensorView table, const Bags<I>& bags) {
  const int64_t width = table.size(1);
  std::vector<int64_t> places(static_cast<size_t>(bags.count() * width), kNoIndex);
  ForRows(bags.count(), width, [&](int64_t begin, int64_t end) {
    std::vector<ComputeType<T>> largest(static_cast<size_t>(width));
    for (int64_t b = begin; b < end; ++b) {
      int64_t* of_bag = places.data() + b * width;
      bags.For(b, [&](int64_t place, int64_t row) {
        for (int64_t c = 0; c < width; ++c) {
          const ComputeType<T> value = Load(Data<T>(table)[row * width + c]);
          if (of_bag[c] == kNoIndex || value > largest[c] || (std::isnan(value) && !std::isnan(largest[c]))) {
            of_bag[c] = place;
            largest[c] = value;
          }
        }
      });
    }
  });
  return places;
}

template <class Level>
void EmbeddingBagBackward(kp::TensorView d_out, kp::TensorView table, kp::TensorView indices, kp::TensorView offsets,
                          std::optional<kp::TensorView> weights, kp::StringView mode_name, int64_t padding_idx,
                          kp::MutTensorView d_table) {
  const Bag mode = ParseBag(mode_name);
  const int64_t count = indices.size(0), width = table.size(1);
  DispatchIndex(indices.dtype(), [&](auto index_tag) {
    using I = typename decltype(index_tag)::Type;
    const Bags<I> bags("embedding_bag_backward", table, indices, offsets, weights.has_value(), mode, padding_idx);
    const Groups groups = GroupByIndex(bags.indices, count, table.size(0), padding_idx);
    std::vector<int64_t> bag_of(static_cast<size_t>(count));
    for (int64_t b = 0; b < bags.count(); ++b) bags.For(b, [&](int64_t place, int64_t) { bag_of[place] = b; });
    DispatchFloat(table.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      using S = ComputeType<T>;
      std::vector<S> shares(static_cast<size_t>(count), S{1});
      for (int64_t b = 0; b < bags.count(); ++b) {
        const S share = mode == Bag::kMean ? S{1} / static_cast<S>(std::max<int64_t>(bags.size(b), 1)) : S{1};
        bags.For(b, [&](int64_t place, int64_t) { shares[place] = weights ? Load(Data<T>(*weights)[place]) : share; });
      }
      const std::vector<int64_t> largest = mode == Bag::kMax ? LargestPlaces<T>(table, bags) : std::vector<int64_t>();
      FillRows<T>(groups, bags.indices, d_table, [&](int64_t g, T* to) {
        const int64_t* places = groups.places(g);
        const auto size = static_cast<size_t>(groups.size(g));
        std::vector<int64_t> of_group(size);
        std::vector<S> with(size);
        for (size_t k = 0; k < size; ++k) {
          of_group[k] = bag_of[places[k]];
          with[k] = shares[places[k]];
        }
        if (mode != Bag::kMax) {
          return SumWeightedRows<Level, T>(Data<T>(d_out), of_group.data(), with.data(), groups.size(g), to, width);
        }
        for (int64_t c = 0; c < width; ++c) {  // of each column, the bags that took their maximum from here
          S sum = 0;
          for (size_t k = 0; k < size; ++k) {
            const int64_t at = of_group[k] * width + c;
            if (largest[at] == places[k]) sum += Load(Data<T>(d_out)[at]);
          }
          Store(sum, to + c);
        }
      });
    });
  });
}

void EmbeddingBagWeightsBackward(kp::TensorView d_out, kp::TensorView table, kp::TensorView indices,
                                 kp::TensorView offsets, kp::TensorView, kp::StringView mode_name, int64_t padding_idx,
                                 kp::MutTensorView d_weights) {
  const int64_t width = table.size(1);
  std::memset(d_weights.data_ptr(), 0, static_cast<size_t>(d_weights.nbytes()));  // of padding
  DispatchIndex(indices.dtype(), [&](auto index_tag) {
    const Bags<typename decltype(index_tag)::Type> bags("embedding_bag_weights_backward", table, indices, offsets, true,
                                                        ParseBag(mode_name), padding_idx);
    DispatchFloat(table.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::Type;
      ForRows(bags.count(), width, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) {
          bags.For(b, [&](int64_t place, int64_t row) {
            double sum = 0;
            for (int64_t c = 0; c < width; ++c) {
              sum += static_cast<double>(Load(Data<T>(d_out)[b * width + c])) * Load(Data<T>(table)[row * width + c]);
            }
            Store(sum, Data<T>(d_weights) + place);
          });
        }
      });
    });
  });
}

}  // namespace
}  // namespace kk

#define KK_BAG "*, mode: str in {\"sum\", \"mean\", \"max\"} = \"sum\", padding_idx: int = -1"
#define KK_WHERE "where T in {f32, f64, f16, bf16}, I in {i32, i64}, S > 0 with deterministic"

KP_DOC(
    embedding_bag,
    "For each bag, the sum, the mean or the largest elements (by column) of the table's rows that the bag's indices "
    "name. Bag i begins at index offsets[i] and ends where the next one begins, the last one at the end. weights, "
    "with \"sum\" only, multiply the rows. The row of padding_idx takes no part, unless it is negative. An empty bag "
    "gives zeros.");
KK_EXPORT(embedding_bag, kk::EmbeddingBag,
          "(table: T[V, D], indices: I[N], offsets: I[S], weights: T[N]? = None, " KK_BAG
          ") -> (out: T[S, D]) " KK_WHERE);
KK_EXPORT(embedding_bag_backward, kk::EmbeddingBagBackward,
          "(d_out: T[S, D], table: T[V, D], indices: I[N], offsets: I[S], weights: T[N]? = None, " KK_BAG
          ") -> (d_table: T[V, D]) " KK_WHERE ", nondiff(d_out, table, weights)");
KP_GRAD(embedding_bag, embedding_bag_backward);
KP_EXPORT(embedding_bag_weights_backward, kk::EmbeddingBagWeightsBackward,
          "(d_out: T[S, D], table: T[V, D], indices: I[N], offsets: I[S], weights: T[N], " KK_BAG
          ") -> (d_weights: T[N]) " KK_WHERE ", nondiff(d_out, table, weights)");
KP_GRAD(embedding_bag, embedding_bag_weights_backward);
