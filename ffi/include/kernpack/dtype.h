// Element types: names, constants, and what a C++ type's dtype is.
#ifndef KERNPACK_DTYPE_H_
#define KERNPACK_DTYPE_H_

#include <kernpack/config.h>
#include <kernpack/text.h>

KP_NAMESPACE_BEGIN

// An element type: DLPack's code, bits of one lane, lanes. Converts both ways to KpDLDataType.
struct DType {
  uint8_t code = KP_DTYPE_OPAQUE;
  uint8_t bits = 0;
  uint16_t lanes = 1;

  constexpr DType() = default;
  constexpr DType(uint8_t code_, uint8_t bits_, uint16_t lanes_ = 1) : code(code_), bits(bits_), lanes(lanes_) {}
  constexpr DType(KpDLDataType d) : code(d.code), bits(d.bits), lanes(d.lanes) {}
  constexpr operator KpDLDataType() const { return {code, bits, lanes}; }

  // Bytes of one element, rounded up; 1 for the sub-byte types.
  constexpr int64_t itemsize() const { return (static_cast<int64_t>(bits) * lanes + 7) / 8; }
  constexpr bool is_floating_point() const {
    return code == KP_DTYPE_FLOAT || code == KP_DTYPE_BFLOAT ||
           (code >= KP_DTYPE_FLOAT8_E3M4 && code <= KP_DTYPE_FLOAT4_E2M1FN);
  }
  constexpr bool is_complex() const { return code == KP_DTYPE_COMPLEX; }
  constexpr bool is_integral() const { return code == KP_DTYPE_INT || code == KP_DTYPE_UINT; }

  friend constexpr bool operator==(DType a, DType b) {
    return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
  }
  friend constexpr bool operator!=(DType a, DType b) { return !(a == b); }
};

// The closed set a signature may name.
inline constexpr DType bool_{KP_DTYPE_BOOL, 8};
inline constexpr DType i4{KP_DTYPE_INT, 4}, i8{KP_DTYPE_INT, 8}, i16{KP_DTYPE_INT, 16}, i32{KP_DTYPE_INT, 32},
    i64{KP_DTYPE_INT, 64};
inline constexpr DType u4{KP_DTYPE_UINT, 4}, u8{KP_DTYPE_UINT, 8}, u16{KP_DTYPE_UINT, 16}, u32{KP_DTYPE_UINT, 32},
    u64{KP_DTYPE_UINT, 64};
inline constexpr DType f16{KP_DTYPE_FLOAT, 16}, bf16{KP_DTYPE_BFLOAT, 16}, f32{KP_DTYPE_FLOAT, 32},
    f64{KP_DTYPE_FLOAT, 64};
inline constexpr DType c64{KP_DTYPE_COMPLEX, 64}, c128{KP_DTYPE_COMPLEX, 128};
inline constexpr DType f8_e3m4{KP_DTYPE_FLOAT8_E3M4, 8}, f8_e4m3{KP_DTYPE_FLOAT8_E4M3, 8},
    f8_e4m3b11fnuz{KP_DTYPE_FLOAT8_E4M3B11FNUZ, 8}, f8_e4m3fn{KP_DTYPE_FLOAT8_E4M3FN, 8},
    f8_e4m3fnuz{KP_DTYPE_FLOAT8_E4M3FNUZ, 8}, f8_e5m2{KP_DTYPE_FLOAT8_E5M2, 8},
    f8_e5m2fnuz{KP_DTYPE_FLOAT8_E5M2FNUZ, 8}, f8_e8m0fnu{KP_DTYPE_FLOAT8_E8M0FNU, 8};
inline constexpr DType f6_e2m3fn{KP_DTYPE_FLOAT6_E2M3FN, 6}, f6_e3m2fn{KP_DTYPE_FLOAT6_E3M2FN, 6},
    f4_e2m1fn{KP_DTYPE_FLOAT4_E2M1FN, 4};

// One row a dtype: the name a signature uses.
struct DTypeName {
  char name[16];
  DType dtype;
};
inline constexpr DTypeName kDTypeNames[] = {
    {"bool", bool_},
    {"i4", i4},
    {"i8", i8},
    {"i16", i16},
    {"i32", i32},
    {"i64", i64},
    {"u4", u4},
    {"u8", u8},
    {"u16", u16},
    {"u32", u32},
    {"u64", u64},
    {"f16", f16},
    {"bf16", bf16},
    {"f32", f32},
    {"f64", f64},
    {"c64", c64},
    {"c128", c128},
    {"f8_e3m4", f8_e3m4},
    {"f8_e4m3", f8_e4m3},
    {"f8_e4m3b11fnuz", f8_e4m3b11fnuz},
    {"f8_e4m3fn", f8_e4m3fn},
    {"f8_e4m3fnuz", f8_e4m3fnuz},
    {"f8_e5m2", f8_e5m2},
    {"f8_e5m2fnuz", f8_e5m2fnuz},
    {"f8_e8m0fnu", f8_e8m0fnu},
    {"f6_e2m3fn", f6_e2m3fn},
    {"f6_e3m2fn", f6_e3m2fn},
    {"f4_e2m1fn", f4_e2m1fn},
};

// "f32", "f32x4" with lanes, "dtype(code=9, bits=3)" when it has no name.
KP_COLD inline Text& operator<<(Text& text, DType d) {
  for (const DTypeName& row : kDTypeNames) {
    if (row.dtype.code != d.code || row.dtype.bits != d.bits) continue;
    text << row.name;
    if (d.lanes != 1) text << 'x' << static_cast<int>(d.lanes);
    return text;
  }
  return text << "dtype(code=" << static_cast<int>(d.code) << ", bits=" << static_cast<int>(d.bits)
              << ", lanes=" << static_cast<int>(d.lanes) << ')';
}
inline Text& operator<<(Text& text, KpDLDataType d) { return text << DType(d); }

// dtype_of<T>: the dtype that a C++ element type stores. Storage types specialise it (half.h, float8.h).
template <class T>
struct DTypeOf;  // no definition: T is not an element type
template <class T>
struct DTypeOf<const T> : DTypeOf<T> {};
#define KP_DTYPE_OF_(type, constant)         \
  template <>                                \
  struct DTypeOf<type> {                     \
    static constexpr DType value = constant; \
  };
KP_DTYPE_OF_(bool, bool_)
KP_DTYPE_OF_(signed char, i8)
KP_DTYPE_OF_(short, i16)
KP_DTYPE_OF_(int, i32)
KP_DTYPE_OF_(long, (DType{KP_DTYPE_INT, sizeof(long) * 8}))
KP_DTYPE_OF_(long long, i64)
KP_DTYPE_OF_(unsigned char, u8)
KP_DTYPE_OF_(unsigned short, u16)
KP_DTYPE_OF_(unsigned, u32)
KP_DTYPE_OF_(unsigned long, (DType{KP_DTYPE_UINT, sizeof(long) * 8}))
KP_DTYPE_OF_(unsigned long long, u64)
KP_DTYPE_OF_(float, f32)
KP_DTYPE_OF_(double, f64)

template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

KP_NAMESPACE_END

#endif  // KERNPACK_DTYPE_H_
