#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>

static void AddOne(tvm::ffi::TensorView x, tvm::ffi::TensorView y) {
  const float* in = static_cast<const float*>(x.data_ptr());
  float* out = static_cast<float*>(y.data_ptr());
  for (int64_t i = 0; i < x.numel(); ++i) out[i] = in[i] + 1;
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(add_one, AddOne);
