// A module built with apache-tvm-ffi's SDK: one function for every kind of value that crosses.
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

#include <string>

namespace ffi = tvm::ffi;

namespace {

int64_t Add(int64_t a, int64_t b) { return a + b; }

ffi::String Greet(ffi::String name) { return std::string("hello ") + std::string(name); }

int64_t Product(ffi::Shape shape) {
  int64_t product = 1;
  for (int64_t extent : shape) product *= extent;
  return product;
}

ffi::Array<int64_t> Doubled(ffi::Array<int64_t> items) {
  ffi::Array<int64_t> out;
  for (int64_t item : items) out.push_back(2 * item);
  return out;
}

int64_t Lookup(ffi::Map<ffi::String, int64_t> map, ffi::String key) { return map.at(key); }

ffi::Any CallBack(ffi::Function function, int64_t value) { return function(value); }

void AddOne(ffi::TensorView x, ffi::TensorView out) {
  for (int64_t i = 0; i < x.numel(); ++i) {
    static_cast<float*>(out.data_ptr())[i] = static_cast<const float*>(x.data_ptr())[i] + 1;
  }
}

// Allocated through whichever host calls.
ffi::Tensor Iota(int64_t n) {
  ffi::Tensor out = ffi::Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, ffi::Shape({n}), DLDataType{kDLFloat, 32, 1},
                                              DLDevice{kDLCPU, 0});
  for (int64_t i = 0; i < n; ++i) static_cast<float*>(out.data_ptr())[i] = static_cast<float>(i);
  return out;
}

void Fail(ffi::String text) { TVM_FFI_THROW(ValueError) << "peer says " << std::string(text); }

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(add, Add);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(greet, Greet);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(product, Product);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(doubled, Doubled);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(lookup, Lookup);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(call_back, CallBack);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(add_one, AddOne);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(iota, Iota);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fail, Fail);
