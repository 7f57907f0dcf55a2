// The functions of a loaded libtvm_ffi that serve a foreign host's calls: found at run time, never linked.
#ifndef KERNPACK_FOREIGN_PEER_H_
#define KERNPACK_FOREIGN_PEER_H_

#include <kernpack/loaded.h>

KP_NAMESPACE_BEGIN
namespace detail {

// X(field, symbol, result, parameters)
#define KP_PEER_FUNCTIONS_(X)                                                                           \
  X(set_raised, "TVMFFIErrorSetRaised", void, (KpObject * error))                                       \
  X(move_raised, "TVMFFIErrorMoveFromRaised", void, (KpObject * *out))                                  \
  X(get_stream, "TVMFFIEnvGetStream", void*, (int32_t device_type, int32_t device_id))                  \
  X(get_allocator, "TVMFFIEnvGetDLPackManagedTensorAllocator", void*, ())                               \
  X(tensor_alloc, "TVMFFIEnvTensorAlloc", int, (KpDLTensor * prototype, KpObject * *out))               \
  X(check_signals, "TVMFFIEnvCheckSignals", int, ())                                                    \
  X(get_global, "TVMFFIFunctionGetGlobal", int, (const KpBytes* name, KpObject** out))                  \
  X(set_global, "TVMFFIFunctionSetGlobal", int, (const KpBytes* name, KpObject* function, int replace)) \
  X(type_index, "TVMFFITypeGetOrAllocIndex", int32_t,                                                   \
    (const KpBytes* key, int32_t static_index, int32_t depth, int32_t slots, int32_t overflow, int32_t parent))

// Any of them may be NULL.
struct Peer {
#define KP_PEER_FIELD_(field, symbol, result, parameters) result(*field) parameters = nullptr;
  KP_PEER_FUNCTIONS_(KP_PEER_FIELD_)
#undef KP_PEER_FIELD_

  KP_COLD void find() {
    void* library = loaded_library(KP_LIBRARY_FILE("tvm_ffi"));
#define KP_PEER_FIND_(field, symbol, result, parameters) \
  field =                                                \
      reinterpret_cast<result(*) parameters>(library ? library_function(library, symbol) : process_function(symbol));
    KP_PEER_FUNCTIONS_(KP_PEER_FIND_)
#undef KP_PEER_FIND_
  }
};
#undef KP_PEER_FUNCTIONS_

}  // namespace detail
KP_NAMESPACE_END

#endif  // KERNPACK_FOREIGN_PEER_H_
