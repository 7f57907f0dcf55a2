// torch's stable C functions, found in the libtorch of this process.
#ifndef KERNPACK_SRC_GUESTS_TORCH_SHIM_H_
#define KERNPACK_SRC_GUESTS_TORCH_SHIM_H_

#include <kernpack/abi.h>

#include <cstddef>
#include <cstdint>

namespace kernpack::torch {

// Declarations of torch's opaque types; a Value is what its headers call StableIValue.
using Value = uint64_t;
using BoxedKernel = void (*)(Value* stack, uint64_t num_inputs, uint64_t num_outputs);
struct TensorOpaque;
struct ListOpaque;
struct StringOpaque;
struct LibraryOpaque;
struct GuardOpaque;
using Tensor = TensorOpaque*;    // owned by whoever holds it: one reference to an at::Tensor
using List = ListOpaque*;        // owned
using String = StringOpaque*;    // owned
using Library = LibraryOpaque*;  // lives as long as what was registered through it
using Guard = GuardOpaque*;

// Every function returning int returns 0, or another number when torch threw.
#define KP_TORCH_FUNCTIONS(X)                                                                                        \
  X(aoti_torch_abi_version, uint64_t, ())                                                                            \
  X(torch_library_impl, int, (Library, const char* name, BoxedKernel, uint64_t version))                             \
  X(aoti_torch_library_init_fragment, int, (const char* ns, const char* file, uint32_t line, Library*))              \
  X(aoti_torch_library_init_impl, int, (const char* ns, const char* key, const char* file, uint32_t line, Library*)) \
  X(aoti_torch_library_def, int, (Library, const char* schema))                                                      \
  X(aoti_torch_get_dim, int, (Tensor, int64_t*))                                                                     \
  X(aoti_torch_get_sizes, int, (Tensor, int64_t**))                                                                  \
  X(aoti_torch_get_strides, int, (Tensor, int64_t**))                                                                \
  X(aoti_torch_get_dtype, int, (Tensor, int32_t*))                                                                   \
  X(aoti_torch_get_device_type, int, (Tensor, int32_t*))                                                             \
  X(aoti_torch_get_device_index, int, (Tensor, int32_t*))                                                            \
  X(aoti_torch_delete_tensor_object, int, (Tensor))                                                                  \
  X(aoti_torch_empty_strided, int,                                                                                   \
    (int64_t ndim, const int64_t* sizes, const int64_t* strides, int32_t dtype, int32_t device_type,                 \
     int32_t device_index, Tensor*))                                                                                 \
  X(torch_get_const_data_ptr, int, (Tensor, const void**))                                                           \
  X(torch_get_mutable_data_ptr, int, (Tensor, void**))                                                               \
  X(torch_list_size, int, (List, size_t*))                                                                           \
  X(torch_list_get_item, int, (List, size_t, Value*))                                                                \
  X(torch_delete_list, int, (List))                                                                                  \
  X(torch_string_c_str, int, (String, const char**))                                                                 \
  X(torch_delete_string, int, (String))

// NULL where this torch lacks them.
#define KP_TORCH_OPTIONAL_FUNCTIONS(X)                                                                            \
  X(torch_library_def_with_tags, int, (Library, const char* schema, const int32_t* tags, int32_t count)) /*2.12*/ \
  X(torch_tag_pt2_compliant_tag, int32_t, ())                                                                     \
  X(torch_tag_needs_exact_strides, int32_t, ())                                                                   \
  X(torch_tag_cudagraph_unsafe, int32_t, ())                                                                      \
  X(torch_tag_nondeterministic_bitwise, int32_t, ())                                                              \
  X(torch_delete_stable_ivalue, int, (Value*)) /*2.13*/                                                           \
  X(torch_exception_get_what_without_backtrace, const char*, ())

struct Shim {
#define KP_TORCH_MEMBER_(name, result, parameters) result(*name) parameters;
  KP_TORCH_FUNCTIONS(KP_TORCH_MEMBER_)
  KP_TORCH_OPTIONAL_FUNCTIONS(KP_TORCH_MEMBER_)
#undef KP_TORCH_MEMBER_
};

// Of libtorch_cuda, looked up when a tensor is on such a device.
struct CudaShim {
  int (*get_current_stream)(int32_t device_index, void** stream);
  int (*create_guard)(int32_t device_index, Guard*);
  int (*delete_guard)(Guard);
};

// Looked up once, when it is first asked for after libtorch was loaded. NULL with an ImportError raised when there is none, or
// one without these functions.
const Shim* FindShim();
// NULL with an ImportError raised.
const CudaShim* FindCudaShim();

// Our version of torch's contract for boxed kernels: 2.10, in the form of TORCH_VERSION_2_10_0.
constexpr uint64_t kTargetVersion = uint64_t{2} << 56 | uint64_t{10} << 48;

// Raises a RuntimeError with what torch said of the failed call, where it tells.
int RaiseTorchError(const Shim& shim, const char* function, const char* doing);

}  // namespace kernpack::torch

#endif  // KERNPACK_SRC_GUESTS_TORCH_SHIM_H_
