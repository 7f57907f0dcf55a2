/* Every element type that a signature may name, in plain C: X(constant, name, word, code, bits). `name` is the name in signatures,
 * `word` the name in frameworks ("float8_e4m3fn"), `code` the name after KP_DTYPE_. To add a dtype, add a row here. */
#ifndef KERNPACK_DTYPE_TABLE_H_
#define KERNPACK_DTYPE_TABLE_H_

#include <kernpack/abi.h>

#define KP_DTYPES(X)                                                               \
  X(bool_, "bool", "bool", BOOL, 8)                                                \
  X(i4, "i4", "int4", INT, 4)                                                      \
  X(i8, "i8", "int8", INT, 8)                                                      \
  X(i16, "i16", "int16", INT, 16)                                                  \
  X(i32, "i32", "int32", INT, 32)                                                  \
  X(i64, "i64", "int64", INT, 64)                                                  \
  X(u4, "u4", "uint4", UINT, 4)                                                    \
  X(u8, "u8", "uint8", UINT, 8)                                                    \
  X(u16, "u16", "uint16", UINT, 16)                                                \
  X(u32, "u32", "uint32", UINT, 32)                                                \
  X(u64, "u64", "uint64", UINT, 64)                                                \
  X(f16, "f16", "float16", FLOAT, 16)                                              \
  X(bf16, "bf16", "bfloat16", BFLOAT, 16)                                          \
  X(f32, "f32", "float32", FLOAT, 32)                                              \
  X(f64, "f64", "float64", FLOAT, 64)                                              \
  X(c64, "c64", "complex64", COMPLEX, 64)                                          \
  X(c128, "c128", "complex128", COMPLEX, 128)                                      \
  X(f8_e3m4, "f8_e3m4", "float8_e3m4", FLOAT8_E3M4, 8)                             \
  X(f8_e4m3, "f8_e4m3", "float8_e4m3", FLOAT8_E4M3, 8)                             \
  X(f8_e4m3b11fnuz, "f8_e4m3b11fnuz", "float8_e4m3b11fnuz", FLOAT8_E4M3B11FNUZ, 8) \
  X(f8_e4m3fn, "f8_e4m3fn", "float8_e4m3fn", FLOAT8_E4M3FN, 8)                     \
  X(f8_e4m3fnuz, "f8_e4m3fnuz", "float8_e4m3fnuz", FLOAT8_E4M3FNUZ, 8)             \
  X(f8_e5m2, "f8_e5m2", "float8_e5m2", FLOAT8_E5M2, 8)                             \
  X(f8_e5m2fnuz, "f8_e5m2fnuz", "float8_e5m2fnuz", FLOAT8_E5M2FNUZ, 8)             \
  X(f8_e8m0fnu, "f8_e8m0fnu", "float8_e8m0fnu", FLOAT8_E8M0FNU, 8)                 \
  X(f6_e2m3fn, "f6_e2m3fn", "float6_e2m3fn", FLOAT6_E2M3FN, 6)                     \
  X(f6_e3m2fn, "f6_e3m2fn", "float6_e3m2fn", FLOAT6_E3M2FN, 6)                     \
  X(f4_e2m1fn, "f4_e2m1fn", "float4_e2m1fn", FLOAT4_E2M1FN, 4)

/* Rows of dtypes that frameworks have and no signature may name. */
#define KP_FOREIGN_DTYPES(X)    \
  X(i2, "i2", "int2", INT, 2)   \
  X(u2, "u2", "uint2", UINT, 2) \
  X(c32, "c32", "complex32", COMPLEX, 32)

#endif /* KERNPACK_DTYPE_TABLE_H_ */
