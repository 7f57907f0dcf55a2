// GELU's first and second derivative.
#pragma once

#include <cstdint>

#include "common/cpu/rows.h"

namespace kk {

// With f(x) = GELU, over `count` elements. t_out, t_d_out and, beside t_d_out, t_x may be null: not requested, zeros.
//   t_out = f'(x) * t_x
//   t_d_x = f'(x) * t_d_out + d_out * f''(x) * t_x
template <class T>
struct GeluTangentArgs {
  GeluKind kind;
  int64_t count;
  const T *d_out, *x, *t_d_out, *t_x;
  T *t_out, *t_d_x;
};

template <class T>
void GeluTangents(const GeluTangentArgs<T>& args);

}  // namespace kk
