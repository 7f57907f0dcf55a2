// The closed set of dtype names that signatures and messages use.
#ifndef KERNPACK_SIGNATURE_DTYPES_H_
#define KERNPACK_SIGNATURE_DTYPES_H_

#include <kernpack/config.h>

KP_NAMESPACE_BEGIN
namespace signature {

struct DTypeName {
  char name[15];
  uint8_t code;  // KpDTypeCode
  uint8_t bits;
};

inline constexpr DTypeName kDTypeNames[] = {
    {"bool", KP_DTYPE_BOOL, 8},
    {"i8", KP_DTYPE_INT, 8},
    {"i16", KP_DTYPE_INT, 16},
    {"i32", KP_DTYPE_INT, 32},
    {"i64", KP_DTYPE_INT, 64},
    {"u8", KP_DTYPE_UINT, 8},
    {"u16", KP_DTYPE_UINT, 16},
    {"u32", KP_DTYPE_UINT, 32},
    {"u64", KP_DTYPE_UINT, 64},
    {"f16", KP_DTYPE_FLOAT, 16},
    {"bf16", KP_DTYPE_BFLOAT, 16},
    {"f32", KP_DTYPE_FLOAT, 32},
    {"f64", KP_DTYPE_FLOAT, 64},
    {"c64", KP_DTYPE_COMPLEX, 64},
    {"c128", KP_DTYPE_COMPLEX, 128},
    {"f8_e3m4", KP_DTYPE_FLOAT8_E3M4, 8},
    {"f8_e4m3", KP_DTYPE_FLOAT8_E4M3, 8},
    {"f8_e4m3b11fnuz", KP_DTYPE_FLOAT8_E4M3B11FNUZ, 8},
    {"f8_e4m3fn", KP_DTYPE_FLOAT8_E4M3FN, 8},
    {"f8_e4m3fnuz", KP_DTYPE_FLOAT8_E4M3FNUZ, 8},
    {"f8_e5m2", KP_DTYPE_FLOAT8_E5M2, 8},
    {"f8_e5m2fnuz", KP_DTYPE_FLOAT8_E5M2FNUZ, 8},
    {"f8_e8m0fnu", KP_DTYPE_FLOAT8_E8M0FNU, 8},
    {"f6_e2m3fn", KP_DTYPE_FLOAT6_E2M3FN, 6},
    {"f6_e3m2fn", KP_DTYPE_FLOAT6_E3M2FN, 6},
    {"f4_e2m1fn", KP_DTYPE_FLOAT4_E2M1FN, 4},
    {"i4", KP_DTYPE_INT, 4},
    {"u4", KP_DTYPE_UINT, 4},
};

// A dtype of one lane as one word: code | bits << 8.
constexpr uint32_t PackDType(uint32_t code, uint32_t bits) { return code | bits << 8; }
constexpr uint32_t PackDType(KpDLDataType t) { return t.code | static_cast<uint32_t>(t.bits) << 8; }

}  // namespace signature
KP_NAMESPACE_END

#endif  // KERNPACK_SIGNATURE_DTYPES_H_
