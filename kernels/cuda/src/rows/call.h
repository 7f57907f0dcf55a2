// What the host halves of the row kernels share.
#pragma once

#include "../attention/call.h"
#include "layout.h"

namespace kk_cuda {

inline const char* NumberName(kp::DType dtype) { return dtype == kp::dtype_of<double> ? "f64" : NameOf(dtype); }

inline std::string Named(const char* kernel, kp::DType dtype) { return std::string(kernel) + "_" + NumberName(dtype); }

inline NumberKind KindOf(kp::DType dtype) {
  if (dtype == kp::dtype_of<float>) return kNumberF32;
  if (dtype == kp::dtype_of<double>) return kNumberF64;
  return dtype == kp::dtype_of<kp::half> ? kNumberF16 : kNumberBf16;
}

inline void CheckDims(const char* name, kp::TensorView x) {
  KP_CHECK(x.dim() - 1 <= kLeading, ValueError)
      << name << ": expected at most " << kLeading + 1 << " dimensions on a CUDA device, got " << x.dim();
}

inline RowLayout LayoutOf(const char* name, kp::TensorView x) {
  CheckDims(name, x);
  RowLayout layout{};
  for (int64_t d = x.dim() - 2; d >= 0; --d) {
    layout.size[layout.dims] = x.size(d), layout.stride[layout.dims++] = x.stride(d);
  }
  layout.step = x.dim() == 0 ? 1 : x.stride(-1);
  return layout;
}

// A contiguous tensor's rows, one for each position of a shape without its last `within` dimensions; the tensor is broadcast to it.
inline RowLayout BroadcastOf(kp::ShapeView shape, size_t within, kp::TensorView rows) {
  RowLayout layout{};
  int64_t of = rows.dim() - 2;
  for (size_t d = shape.size() - within; d-- > 0; --of) {
    layout.size[layout.dims] = shape[d];
    layout.stride[layout.dims++] = of < 0 || rows.size(of) == 1 ? 0 : rows.stride(of);
  }
  layout.step = 1;
  return layout;
}

}  // namespace kk_cuda
