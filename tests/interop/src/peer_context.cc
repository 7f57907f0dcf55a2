// A module built with apache-tvm-ffi's SDK that asks for code through the module its loader made of it, as TileLang's exports do for
// their kernels.
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/tvm_ffi.h>

namespace ffi = tvm::ffi;

extern "C" {
__attribute__((visibility("default"))) void* __tvm_ffi__library_ctx = nullptr;
}

namespace {

void Half(ffi::TensorView x, ffi::TensorView y) {
  for (int64_t i = 0; i < x.numel(); ++i) {
    static_cast<float*>(y.data_ptr())[i] = static_cast<const float*>(x.data_ptr())[i] / 2;
  }
}

void HalfByName(ffi::TensorView x, ffi::TensorView y) {
  auto* module = static_cast<ffi::ModuleObj*>(__tvm_ffi__library_ctx);
  module->GetFunction("half", true).value()(x, y);
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(half, Half);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(half_by_name, HalfByName);
