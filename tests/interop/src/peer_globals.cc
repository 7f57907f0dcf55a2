// A shared object that exports nothing: it registers global functions with apache-tvm-ffi when it is loaded.
#include <tvm/ffi/reflection/registry.h>
#include <tvm/ffi/tvm_ffi.h>

TVM_FFI_STATIC_INIT_BLOCK() {
  tvm::ffi::reflection::GlobalDef()
      .def("kernpack_test.add", [](int64_t a, int64_t b) { return a + b; })
      .def("kernpack_test.greet", [](tvm::ffi::String name) { return "hello " + std::string(name); });
}
