// Values that apache-tvm-ffi's newer SDKs make, and values that none should: what foreign code may hand back.
#include <tvm/ffi/big_int.h>
#include <tvm/ffi/container/dict.h>
#include <tvm/ffi/tvm_ffi.h>

#include <new>

namespace ffi = tvm::ffi;

namespace {

ffi::Dict<ffi::String, int64_t> MakeDict(int64_t n) {
  ffi::Dict<ffi::String, int64_t> out;
  for (int64_t i = 0; i < n; ++i) out.Set(std::to_string(i), i);
  return out;
}

ffi::BigInt Twice(ffi::BigInt value) { return value + value; }

int64_t NoMemory() { throw std::bad_alloc(); }
int64_t OddError() { throw std::runtime_error("odd"); }
ffi::Any Echo(ffi::Any value) { return value; }
int64_t Number(int64_t value) { return value; }
ffi::Any First(ffi::Array<ffi::Any> items) { return items[0]; }

int Give(TVMFFIAny* result, int32_t type_index, uint32_t small_len, void* object) {
  result->type_index = type_index;
  result->small_str_len = small_len;
  result->v_ptr = object;
  return 0;
}

}  // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(make_dict, MakeDict);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(twice, Twice);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(no_memory, NoMemory);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(odd_error, OddError);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(echo, Echo);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(number, Number);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(first, First);

#define BROKEN(name, type_index, small_len, object)                                                         \
  extern "C" TVM_FFI_DLL_EXPORT int __tvm_ffi_##name(void*, const TVMFFIAny*, int32_t, TVMFFIAny* result) { \
    return Give(result, type_index, small_len, object);                                                     \
  }

BROKEN(null_string, kTVMFFIStr, 0, nullptr)
BROKEN(null_tensor, kTVMFFITensor, 0, nullptr)
BROKEN(null_array, kTVMFFIArray, 0, nullptr)
BROKEN(null_dict, kTVMFFIDict, 0, nullptr)
BROKEN(null_object, kTVMFFIObject, 0, nullptr)
BROKEN(null_of_its_own, 200, 0, nullptr)
BROKEN(null_far_away, 2000000000, 0, nullptr)
BROKEN(wild_far_away, 2000000000, 0, reinterpret_cast<void*>(8))
BROKEN(long_small_string, kTVMFFISmallStr, 100000, nullptr)
BROKEN(long_small_bytes, kTVMFFISmallBytes, 100000, nullptr)
BROKEN(unknown_plain, 40, 0, nullptr)
BROKEN(unknown_static, 120, 0, nullptr)
BROKEN(negative, -7, 0, nullptr)
