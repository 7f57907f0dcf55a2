// C++ types of the 8-bit floats that frameworks seldom compute with: their bits, for kernels that move or reinterpret them. Those
// with conversions are in float8.h. Dtypes of less than a byte have no C++ type, because several elements share one.
#ifndef KERNPACK_FLOAT8_BITS_H_
#define KERNPACK_FLOAT8_BITS_H_

#include <kernpack/dtype.h>

KP_NAMESPACE_BEGIN

#define KP_FLOAT8_BITS_(name, constant)      \
  struct name {                              \
    uint8_t bits;                            \
  };                                         \
  template <>                                \
  struct DTypeOf<name> {                     \
    static constexpr DType value = constant; \
  };
KP_FLOAT8_BITS_(float8_e3m4, f8_e3m4)
KP_FLOAT8_BITS_(float8_e4m3, f8_e4m3)
KP_FLOAT8_BITS_(float8_e4m3b11fnuz, f8_e4m3b11fnuz)
KP_FLOAT8_BITS_(float8_e4m3fnuz, f8_e4m3fnuz)
KP_FLOAT8_BITS_(float8_e5m2fnuz, f8_e5m2fnuz)
KP_FLOAT8_BITS_(float8_e8m0fnu, f8_e8m0fnu)
#undef KP_FLOAT8_BITS_

KP_NAMESPACE_END

#endif  // KERNPACK_FLOAT8_BITS_H_
