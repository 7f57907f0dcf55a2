// The storage types of the kernels, and the CPU levels they are compiled for. No code.
#pragma once

#include <cstdint>

namespace kk {

struct Bf16 {
  uint16_t bits;
};
struct F16 {
  uint16_t bits;
};

// The type in which values of a storage type are computed.
template <class T>
struct Compute {
  using Type = float;
};
template <>
struct Compute<double> {
  using Type = double;
};
template <class T>
using ComputeType = typename Compute<T>::Type;

// CPU levels, spelled as the build's KP_VARIANT. They only name instantiations: LayerNormRows<x86_64_v3, float>.
struct x86_64_v2;
struct x86_64_v3;
struct x86_64_v4;
struct x86_64_v3_avxvnni;  // matrix products only, and so are ...
struct x86_64_v4_avx512vnni;  // products of integers only
struct x86_64_v4_avx512vnni_avx512bf16;
struct x86_64_v4_avx512vnni_avx512bf16_amx_tile_amx_bf16;
struct armv8_a;
struct armv8_2_a_dotprod;  // matrix products only, and so is ...
struct armv8_2_a_dotprod_i8mm_bf16;

// The level that rows are compiled for, of one that only products are.
template <class Level>
struct RowLevel {
  using Type = Level;
};
#define KK_ROWS_AS(level, rows) \
  template <>                   \
  struct RowLevel<level> {      \
    using Type = rows;          \
  };
KK_ROWS_AS(x86_64_v3_avxvnni, x86_64_v3)
KK_ROWS_AS(x86_64_v4_avx512vnni, x86_64_v4)
KK_ROWS_AS(x86_64_v4_avx512vnni_avx512bf16, x86_64_v4)
KK_ROWS_AS(x86_64_v4_avx512vnni_avx512bf16_amx_tile_amx_bf16, x86_64_v4)
KK_ROWS_AS(armv8_2_a_dotprod, armv8_a)
KK_ROWS_AS(armv8_2_a_dotprod_i8mm_bf16, armv8_a)
#undef KK_ROWS_AS

// The level that products of floats are compiled for, of one that only products of integers are.
template <class Level>
struct FloatLevel {
  using Type = Level;
};
template <>
struct FloatLevel<x86_64_v4_avx512vnni> {
  using Type = x86_64_v4;
};

// The level whose code computes values of type T where only bf16 values have code of their own for products of pairs.
template <class Level, class T>
struct Bf16Level {
  using Type = typename RowLevel<Level>::Type;
};
template <class Level>
struct Bf16Level<Level, Bf16> {
  using Type = Level;
};

// X(type): every storage type of the floating-point kernels.
#define KK_FLOAT_TYPES(X) X(float) X(double) X(Bf16) X(F16)

}  // namespace kk
