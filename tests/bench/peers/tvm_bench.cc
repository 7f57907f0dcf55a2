// The benchmark's functions, written with apache-tvm-ffi's SDK.
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/error.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>

namespace ffi = tvm::ffi;

static void Nothing() {}
static void ThreeTensors(ffi::TensorView, ffi::TensorView, ffi::TensorView) {}

// Checks what the signature "(a: T[N, D], b: T[N, D], c: T[D]) -> () where T in {f32, f16}" says.
static void ThreeChecked(ffi::TensorView a, ffi::TensorView b, ffi::TensorView c) {
  TVM_FFI_ICHECK(a.ndim() == 2 && b.ndim() == 2 && c.ndim() == 1);
  TVM_FFI_ICHECK(a.dtype() == b.dtype() && a.dtype() == c.dtype());
  TVM_FFI_ICHECK(a.size(0) == b.size(0) && a.size(1) == b.size(1) && a.size(1) == c.size(0));
}

static ffi::Tensor NewLike(ffi::TensorView x) {
  return ffi::Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, x.shape(), x.dtype(), x.device());
}
static void Fail(int64_t value) { TVM_FFI_THROW(ValueError) << "expected a positive value, got " << value; }
static void ThreeInts(int64_t, int64_t, int64_t) {}
static void Node(ffi::TensorView, ffi::TensorView, int64_t, double) {}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(nothing, Nothing);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(three_ints, ThreeInts);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(three_tensors, ThreeTensors);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(three_checked, ThreeChecked);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(new_like, NewLike);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fail, Fail);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(node, Node);
