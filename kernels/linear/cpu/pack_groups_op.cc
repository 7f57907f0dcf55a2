// pack_int4, pack_int8: integers and the scales and zero points of groups of columns, in the order that packed_linear reads.
#include "dispatch.h"
#include "pack.h"

namespace kk {
namespace {

template <class T>
float ToFloat(const T* values, int64_t i) {
  if constexpr (std::is_same_v<T, float>) {
    return values[i];
  } else {
    using Half = std::conditional_t<std::is_same_v<T, F16>, kp::half, kp::bfloat16>;
    Half value;
    std::memcpy(&value, values + i, sizeof value);
    return static_cast<float>(value);
  }
}

// The format's values are unsigned: signed ones are moved by half of their range, and so is the zero point.
template <PackedFormat F, class V, class S>
void PackIntegers(kp::TensorView values, const S* scales, const S* zeros, int64_t groups, kp::MutTensorView packed) {
  using T = PackedTraits<F>;
  constexpr int kLevels = 1 << T::kBits, kMoved = std::is_signed_v<V> ? kLevels / 2 : 0;
  const int64_t rows = values.size(0), columns = values.size(1), blocks = columns / kBlockColumns;
  const int64_t per_tail = blocks / groups, tail_step = per_tail * T::kBlockBytes + T::kTailBytes;
  const V* from = Data<V>(values);
  WritePacked<F>(rows, columns, per_tail, packed, [&](int64_t row, int64_t lane, uint8_t* group) {
    for (int64_t b = 0; b < blocks; ++b) {
      uint8_t moved[kBlockColumns];
      for (int64_t k = 0; k < kBlockColumns; ++k) {
        const int64_t column = b * kBlockColumns + k;
        const int value = from[row * columns + column];
        KP_CHECK(value + kMoved >= 0 && value + kMoved < kLevels, ValueError)
            << "values: expected numbers from " << -kMoved << " to " << kLevels - 1 - kMoved << ", got " << value
            << " at [" << row << ", " << column << "]";
        moved[k] = static_cast<uint8_t>(value + kMoved);
      }
      StoreValues<T::kBits>(moved, lane, group + b / per_tail * tail_step + b % per_tail * T::kBlockBytes);
    }
    for (int64_t g = 0; g < groups; ++g) {
      uint8_t* tail = group + (g + 1) * tail_step - T::kTailBytes;
      const float d = ToFloat(scales, row * groups + g);
      const float zero = zeros ? ToFloat(zeros, row * groups + g) : 0;
      const float m = -d * (zero + kMoved);
      std::memcpy(tail + 4 * lane, &d, sizeof d);
      std::memcpy(tail + 4 * (kGroupRows + lane), &m, sizeof m);
    }
  });
}

template <PackedFormat F>
void PackGroups(kp::TensorView values, kp::TensorView scales, std::optional<kp::TensorView> zeros,
                kp::MutTensorView packed) {
  kp::dispatch<int8_t, uint8_t>(values.dtype(), [&](auto v) {
    DispatchLinear(scales.dtype(), [&](auto tag) {
      using S = typename decltype(tag)::Type;
      PackIntegers<F, typename decltype(v)::type>(values, Data<S>(scales), Data<S>(zeros), scales.size(1), packed);
    });
  });
}

}  // namespace
}  // namespace kk

#define KK_GROUPS "(values: V[N, K], scales: S[N, G], zeros: S[N, G]? = None) -> "
#define KK_GROUP_TYPES \
  "where V in {i8, u8}, S in {f32, f16, bf16}, N > 0, G > 0, K > 0, K % (32 * G) == 0 with deterministic"

KP_DOC(pack_int4,
       "Packs the weight scales * (values - zeros) for packed_linear, with 4 bits per value; see "
       "pack_q4_0. Values are from -8 to 7 as i8, or from 0 to 15 as u8. Each of the G groups of columns "
       "has a scale and a zero point (0 without zeros).");
KP_EXPORT(pack_int4, kk::PackGroups<kk::PackedFormat::kInt4>,
          KK_GROUPS "(weight: u8[N, ceildiv(64 + ceildiv(N, 16) * (K // 32 * 256 + G * 128), N)]) " KK_GROUP_TYPES);
KP_DOC(pack_int8,
       "Packs the weight scales * (values - zeros) for packed_linear, with 8 bits per value; see "
       "pack_int4.");
KP_EXPORT(pack_int8, kk::PackGroups<kk::PackedFormat::kInt8>,
          KK_GROUPS "(weight: u8[N, ceildiv(64 + ceildiv(N, 16) * (K // 32 * 512 + G * 128), N)]) " KK_GROUP_TYPES);
