// std::format and std::print of kp::half, kp::bfloat16 and the float8 types, with the format specifications of float. From C++20 on, for
// standard libraries that have <format>; apart from kernel.h, because <format> takes long to compile.
#ifndef KERNPACK_FORMAT_H_
#define KERNPACK_FORMAT_H_

#include <kernpack/float8.h>

#include <format>

#define KP_FORMAT_AS_FLOAT_(type)                                                     \
  template <class Char>                                                               \
  struct std::formatter<kernpack::type, Char> : std::formatter<float, Char> {         \
    template <class Context>                                                          \
    auto format(kernpack::type value, Context& context) const {                       \
      return std::formatter<float, Char>::format(static_cast<float>(value), context); \
    }                                                                                 \
  };
KP_FORMAT_AS_FLOAT_(half)
KP_FORMAT_AS_FLOAT_(bfloat16)
KP_FORMAT_AS_FLOAT_(float8_e4m3fn)
KP_FORMAT_AS_FLOAT_(float8_e5m2)
#undef KP_FORMAT_AS_FLOAT_

#endif  // KERNPACK_FORMAT_H_
