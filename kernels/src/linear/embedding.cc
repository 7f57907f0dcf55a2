// packed_embedding: rows of packed weights, as floats.
#include "header.h"

namespace kk {
namespace {

float FromHalf(const uint8_t* p) {
  kp::half value;
  std::memcpy(&value, p, sizeof value);
  return static_cast<float>(value);
}

float FromFloat(const uint8_t* p) {
  float value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

// The value of column k in lane `lane` of a block.
template <int kBits>
int BlockValue(const uint8_t* block, int64_t lane, int64_t k) {
  const auto byte = [&](int64_t at) { return static_cast<int>(block[4 * (at / 4 * kGroupRows + lane) + at % 4]); };
  if constexpr (kBits == 8) return byte(k);
  const int low = k < 16 ? byte(k) & 15 : byte(k - 16) >> 4;
  if constexpr (kBits == 4) return low;
  return low | (byte(16 + k / 16 * 4 + k % 4) >> (2 * (k % 16 / 4)) & 3) << 4;
}

// The scale and minimum of column k.
struct ScaleAndMinimum {
  float d, m;
};

template <PackedFormat F>
ScaleAndMinimum ScaleOf(const BlockCursor<F>& at, int64_t lane, int64_t k) {
  using T = PackedTraits<F>;
  const uint8_t *scales = at.block() + T::kValueBytes, *tail = at.tail();
  if constexpr (T::kScales == Scales::kHalf) {
    const float d = FromHalf(scales + 2 * lane);
    return {d, d * -T::kOffset};
  } else if constexpr (T::kScales == Scales::kHalfMin) {
    return {FromHalf(scales + 2 * lane), FromHalf(scales + 2 * (kGroupRows + lane))};
  } else if constexpr (T::kScales == Scales::kQ4K) {
    return {FromHalf(tail + 2 * lane) * static_cast<float>(scales[lane]),
            -(FromHalf(tail + 2 * (kGroupRows + lane)) * static_cast<float>(scales[kGroupRows + lane]))};
  } else if constexpr (T::kScales == Scales::kQ6K) {
    const auto scale = static_cast<int8_t>(scales[k / 16 * kGroupRows + lane]);
    const float d = FromHalf(tail + 2 * lane) * static_cast<float>(scale);
    return {d, d * -T::kOffset};
  } else {
    return {FromFloat(tail + 4 * lane), FromFloat(tail + 4 * (kGroupRows + lane))};
  }
}

template <PackedFormat F>
void UnpackRow(const PackedWeight& weight, int64_t row, float* out) {
  const int64_t lane = row % kGroupRows;
  BlockCursor<F> at(weight, row / kGroupRows, 0);
  for (int64_t column = 0; column < weight.columns; column += kBlockColumns, at.Next()) {
    for (int64_t k = 0; k < kBlockColumns; ++k) {
      const ScaleAndMinimum of = ScaleOf(at, lane, k);
      out[column + k] = of.d * static_cast<float>(BlockValue<PackedTraits<F>::kBits>(at.block(), lane, k)) + of.m;
    }
  }
}

void PackedEmbedding(kp::TensorView weight, kp::TensorView indices, int64_t columns, kp::MutTensorView out) {
  const PackedWeight table = ReadPacked(weight);
  KP_CHECK(columns == table.columns, ValueError)
      << "columns: expected " << table.columns << ", as the weight has, got " << columns;
  kp::dispatch<int32_t, int64_t>(indices.dtype(), [&](auto t) {
    using Index = typename decltype(t)::type;
    const Index* index = Data<Index>(indices);
    ForRows(indices.numel(), columns, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        KP_CHECK(index[i] >= 0 && index[i] < table.rows, IndexError)
            << "indices: element " << i << " is " << index[i] << ", but weight has " << table.rows << " rows";
        DispatchFormat(table.format, [&](auto format) {
          UnpackRow<decltype(format)::value>(table, index[i], Data<float>(out) + i * columns);
        });
      }
    });
  });
}

}  // namespace
}  // namespace kk

KP_DOC(packed_embedding, "Rows of a packed weight, as f32. columns is the number of the weight's columns.");
KP_EXPORT(packed_embedding, kk::PackedEmbedding,
          "(weight: u8[V, P], indices: I[...], *, columns: int) -> (out: f32[..., columns]) "
          "where I in {i32, i64}, columns >= 0 with deterministic");
