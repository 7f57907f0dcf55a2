// Element types: names, constants, and what a C++ type's dtype is.
#ifndef KERNPACK_DTYPE_H_
#define KERNPACK_DTYPE_H_

#include <type_traits>
#include <utility>

#include <kernpack/config.h>
#include <kernpack/dtype_table.h>
#include <kernpack/text.h>
#include <kernpack/value_names.h>

KP_NAMESPACE_BEGIN

// An element type: DLPack's code, bits of one lane, lanes. Converts both ways to KpDLDataType.
//
//   if (x.dtype() == kp::bf16) RunBf16(x);
//   const kp::DType dtype = kp::dtype_of<float>;  // kp::f32
//   KP_CHECK(dtype.is_floating_point(), TypeError) << "expected floating-point numbers, got " << dtype;
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

// The dtypes that a signature may name: kp::f32, kp::bf16, kp::bool_, ...
#define KP_DTYPE_CONSTANT_(constant, name, word, code, bits) inline constexpr DType constant{KP_DTYPE_##code, bits};
KP_DTYPES(KP_DTYPE_CONSTANT_)
#undef KP_DTYPE_CONSTANT_

// One dtype with the name that a signature uses for it: a row of kDTypeNames.
struct DTypeName {
  char name[16];
  DType dtype;
};
#define KP_DTYPE_NAME_(constant, name, word, code, bits) {name, constant},
inline constexpr DTypeName kDTypeNames[] = {KP_DTYPES(KP_DTYPE_NAME_)};
#undef KP_DTYPE_NAME_

// "f32", "f32x4" with lanes, "dtype(code=9, bits=3)" if it has no name.
KP_COLD inline Text& operator<<(Text& text, DType d) {
  if (const char* const name = kp_known_dtype_name(d.code, d.bits)) {
    text << name;
    if (d.lanes != 1) text << 'x' << static_cast<int>(d.lanes);
    return text;
  }
  return text << "dtype(code=" << static_cast<int>(d.code) << ", bits=" << static_cast<int>(d.bits)
              << ", lanes=" << static_cast<int>(d.lanes) << ')';
}
inline Text& operator<<(Text& text, KpDLDataType d) { return text << DType(d); }

// dtype_of<T>: the dtype that a C++ element type stores. Storage types specialise it (half.h, float8.h).
template <class T, class Enable = void>
struct DTypeOf {
  static_assert(
      sizeof(T) == 0,
      "T isn't the C++ type of a dtype: use a number's type (int32_t, float, ...), bool, kp::half, kp::bfloat16, "
      "kp::float8_e4m3fn, std::complex<float> or the like; dtypes of less than a byte have none, so use data_ptr() "
      "without a type");
};
template <class T>
struct DTypeOf<const T, void> : DTypeOf<T> {};
// std::complex, thrust::complex and their like, known by their members: <complex> would cost every kernel a fifth of a second.
template <class T>
struct DTypeOf<T, std::enable_if_t<!std::is_const<T>::value && sizeof(T) == 2 * sizeof(typename T::value_type) &&
                                   std::is_same<std::decay_t<decltype(std::declval<const T&>().imag())>,
                                                typename T::value_type>::value>> {
  static_assert(std::is_same<typename T::value_type, float>::value ||
                    std::is_same<typename T::value_type, double>::value,
                "complex numbers are of float (c64) or double (c128)");
  static constexpr DType value{KP_DTYPE_COMPLEX, sizeof(T) * 8};
};
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
