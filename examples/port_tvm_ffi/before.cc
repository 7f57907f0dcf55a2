// Rows of floats as int8 with a scale per row, and back: for apache-tvm-ffi.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/function.h>

#include <algorithm>
#include <cmath>

namespace ffi = tvm::ffi;

static void Expect(const char* name, ffi::TensorView x, DLDataType dtype, int32_t ndim) {
  if (x.dtype() != dtype) TVM_FFI_THROW(TypeError) << name << ": wrong dtype";
  if (x.ndim() != ndim) TVM_FFI_THROW(ValueError) << name << ": expected " << ndim << " dims, got " << x.ndim();
  if (!x.IsContiguous()) TVM_FFI_THROW(ValueError) << name << ": expected a contiguous tensor";
  if (x.device().device_type != kDLCPU) TVM_FFI_THROW(ValueError) << name << ": expected a tensor on the CPU";
}

static void ExpectRows(ffi::TensorView x, ffi::TensorView q, ffi::TensorView scale) {
  Expect("x", x, DLDataType{kDLFloat, 32, 1}, 2);
  Expect("q", q, DLDataType{kDLInt, 8, 1}, 2);
  Expect("scale", scale, DLDataType{kDLFloat, 32, 1}, 1);
  if (q.size(0) != x.size(0) || q.size(1) != x.size(1)) TVM_FFI_THROW(ValueError) << "x and q differ in shape";
  if (scale.size(0) != x.size(0)) TVM_FFI_THROW(ValueError) << "scale: expected one element per row";
}

static void Quantize(ffi::TensorView x, int64_t largest, ffi::TensorView q, ffi::TensorView scale) {
  ExpectRows(x, q, scale);
  if (largest < 1 || largest > 127) TVM_FFI_THROW(ValueError) << "largest: expected 1 to 127, got " << largest;
  const int64_t columns = x.size(1);
  for (int64_t r = 0; r < x.size(0); ++r) {
    const float* in = static_cast<const float*>(x.data_ptr()) + r * columns;
    float most = 0;
    for (int64_t c = 0; c < columns; ++c) most = std::max(most, std::abs(in[c]));
    const float step = most > 0 ? most / static_cast<float>(largest) : 1;
    for (int64_t c = 0; c < columns; ++c) {
      static_cast<int8_t*>(q.data_ptr())[r * columns + c] = static_cast<int8_t>(std::lround(in[c] / step));
    }
    static_cast<float*>(scale.data_ptr())[r] = step;
  }
}

static void Dequantize(ffi::TensorView q, ffi::TensorView scale, ffi::TensorView x) {
  ExpectRows(x, q, scale);
  const int64_t columns = x.size(1);
  for (int64_t i = 0; i < x.numel(); ++i) {
    static_cast<float*>(x.data_ptr())[i] =
        static_cast<const int8_t*>(q.data_ptr())[i] * static_cast<const float*>(scale.data_ptr())[i / columns];
  }
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(quantize, Quantize);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(dequantize, Dequantize);
