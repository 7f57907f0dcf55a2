/* Kernpack's tensors as DLPack's, and back, for code that has the real dlpack/dlpack.h (0.6 and later; torch's ATen/dlpack.h
 * too, included first). No elements are copied. C99; in C++ also kp::dlpack.
 *
 *   DLTensor* x = ...;                                   // of any library
 *   k["scale"](kp::dlpack::View(*x));                    // borrowed, for a call
 *   kp::Tensor owned = kp::dlpack::own(managed);         // takes a DLManagedTensor or DLManagedTensorVersioned over
 *   DLManagedTensorVersioned* out = kp::dlpack::share_versioned(owned);
 *
 * Views work in kernels as well. What owns memory (own, share, objects) needs libkernpack, which keeps DLPack's flags:
 * read-only and padded travel with a tensor; copied is for its first consumer alone. DLManagedTensor has no flags. Any thread. */
#ifndef KERNPACK_DLPACK_H_
#define KERNPACK_DLPACK_H_

#ifndef DLPACK_DLPACK_H_
#include <dlpack/dlpack.h>
#endif
#include <kernpack/host/host.h>

#include <string.h>

/* The bits of DLManagedTensorVersioned.flags, which older headers lack. */
enum KpDLPackFlags {
  KP_DLPACK_READ_ONLY = 1,
  KP_DLPACK_COPIED = 2, /* the consumer is the only one who has this memory */
  KP_DLPACK_PADDED = 4 /* an element below one byte takes a whole byte; functions expect packed ones */
};

/* The size of an array that has to be positive: C99 has no static_assert. */
typedef char KpDLTensorIsDLPacks_[sizeof(KpDLTensor) == sizeof(DLTensor) &&
                                          offsetof(KpDLTensor, byte_offset) == offsetof(DLTensor, byte_offset)
                                      ? 1
                                      : -1];

/* A tensor of DLPack as an argument, and back. The copy borrows data, shape and strides. */
static inline KpDLTensor kp_dl_view(const DLTensor* tensor) {
  KpDLTensor view;
  memcpy(&view, tensor, sizeof(view)); /* no cast of the pointer: compilers take the two structs for unrelated memory */
  return view;
}
static inline DLTensor kp_dl_tensor(const KpDLTensor* view) {
  DLTensor tensor;
  memcpy(&tensor, view, sizeof(tensor));
  return tensor;
}

/* kp_tensor_from_dlpack: on failure the caller still owns `managed`. */
static inline int kp_dl_own(DLManagedTensor* managed, KpAny* out) {
  return kp_tensor_from_dlpack((KpDLManagedTensor*)(void*)managed, out);
}
/* kp_tensor_to_dlpack: a new reference to the TENSOR, until the deleter of *out runs. */
static inline int kp_dl_share(KpObject* tensor, DLManagedTensor** out) {
  KpDLManagedTensor* managed = NULL;
  const int rc = kp_tensor_to_dlpack(tensor, &managed);
  *out = (DLManagedTensor*)(void*)managed;
  return rc;
}

#if defined(DLPACK_MAJOR_VERSION) && DLPACK_MAJOR_VERSION == 1 /* DLManagedTensorVersioned as of DLPack 1.0 */

typedef char
    KpDLManagedTensorVersionedIsDLPacks_[sizeof(KpDLManagedTensorVersioned) == sizeof(DLManagedTensorVersioned) &&
                                                 offsetof(KpDLManagedTensorVersioned, tensor) ==
                                                     offsetof(DLManagedTensorVersioned, dl_tensor)
                                             ? 1
                                             : -1];

/* Between TENSORs and tensors of the versioned protocol, flags included. */
static inline int kp_dl_own_versioned(DLManagedTensorVersioned* managed, KpAny* out) {
  return kp_tensor_from_dlpack_versioned((KpDLManagedTensorVersioned*)(void*)managed, out);
}
static inline int kp_dl_share_versioned(KpObject* tensor, DLManagedTensorVersioned** out) {
  KpDLManagedTensorVersioned* managed = NULL;
  const int rc = kp_tensor_to_dlpack_versioned(tensor, &managed);
  *out = (DLManagedTensorVersioned*)(void*)managed;
  return rc;
}

#if DLPACK_MINOR_VERSION >= 3 /* the table that tensor types have in __dlpack_c_exchange_api__ */

/* The table of DLPack 1 in the capsule "dlpack_exchange_api" of a type: the newest, or an older one of the same producer. NULL if
 * there is none. */
static inline const DLPackExchangeAPI* kp_dl_table(const void* capsule_pointer) {
  const DLPackExchangeAPIHeader* header = (const DLPackExchangeAPIHeader*)capsule_pointer;
  while (header != NULL && header->version.major != 1) header = header->prev_api;
  return (const DLPackExchangeAPI*)(const void*)header;
}

/* A TENSOR of a Python object of the table's type; the GIL is held. 0; -1 with an error raised; or 1 with a Python exception set. */
static inline int kp_dl_from_object(const DLPackExchangeAPI* table, void* object, KpAny* out) {
  DLManagedTensorVersioned* managed = NULL;
  if (table->managed_tensor_from_py_object_no_sync(object, &managed) != 0) return 1;
  if (kp_dl_own_versioned(managed, out) == 0) return 0;
  if (managed->deleter != NULL) managed->deleter(managed);
  return -1;
}
/* A new Python object of the table's type that shares the TENSOR's memory. As above. */
static inline int kp_dl_to_object(const DLPackExchangeAPI* table, KpObject* tensor, void** out_object) {
  DLManagedTensorVersioned* managed = NULL;
  if (kp_dl_share_versioned(tensor, &managed) != 0) return -1;
  return table->managed_tensor_to_py_object_no_sync(managed, out_object) == 0 ? 0 : 1;
}

static inline void kp_dl_raise_(void* who, const char* kind, const char* message) {
  (void)kp_raise(kind, "%s: %s", (const char*)who, message);
}
/* KpCallContext.tensor_alloc; tensor_alloc_context is the table: results come from its framework's allocator. */
static inline int kp_dl_allocate(void* table, const KpDLTensor* prototype, KpAny* out) {
  static char who[] = "kp_dl_allocate";
  DLManagedTensorVersioned* managed = NULL;
  DLTensor wanted = kp_dl_tensor(prototype);
  if (((const DLPackExchangeAPI*)table)->managed_tensor_allocator(&wanted, &managed, who, kp_dl_raise_) != 0) return -1;
  if (kp_dl_own_versioned(managed, out) == 0) return 0;
  if (managed->deleter != NULL) managed->deleter(managed);
  return -1;
}

#endif
#endif

#ifdef __cplusplus

#include <kernpack/tensor.h>

KP_NAMESPACE_BEGIN
namespace dlpack {

/* A tensor of DLPack, borrowed: valid as long as this object and what it was made from. BufferError for another major version of
 * DLPack, and for elements below one byte that are padded. */
class View {
 public:
  explicit View(const DLTensor& tensor) : view_(kp_dl_view(&tensor)) {}
  explicit View(const DLManagedTensor& managed) : View(managed.dl_tensor) {}
#if defined(DLPACK_MAJOR_VERSION) && DLPACK_MAJOR_VERSION == 1
  explicit View(const DLManagedTensorVersioned& managed) : View(checked(managed)) {
    read_only_ = (managed.flags & KP_DLPACK_READ_ONLY) != 0;
  }
#endif

  TensorView view() const { return TensorView(&view_); }
  operator TensorView() const { return view(); }
  /* To write to. BufferError if the producer says that it is read-only, which a DLTensor and a DLManagedTensor can't. */
  MutTensorView mutable_view() const {
    KP_CHECK(!read_only_, BufferError)
        << "kp::dlpack::View: expected a tensor that may be written to, got a read-only one; copy it";
    return MutTensorView(&view_);
  }

 private:
#if defined(DLPACK_MAJOR_VERSION) && DLPACK_MAJOR_VERSION == 1
  static const DLTensor& checked(const DLManagedTensorVersioned& managed) {
    KP_CHECK(managed.version.major == 1, BufferError)
        << "kp::dlpack::View: expected a tensor of DLPack 1, got one of version " << managed.version.major << '.'
        << managed.version.minor;
    const DLDataType dtype = managed.dl_tensor.dtype;
    KP_CHECK(!(managed.flags & KP_DLPACK_PADDED) || dtype.bits * dtype.lanes % 8 == 0, BufferError)
        << "kp::dlpack::View: expected packed elements, got elements of " << int{dtype.bits}
        << " bits that take a byte each; ask the producer for packed ones";
    return managed.dl_tensor;
  }
#endif

  KpDLTensor view_;
  bool read_only_ = false;
};

/* The view as DLPack's struct, for functions of other libraries; it borrows shape and strides. */
inline DLTensor tensor(TensorView view) { return kp_dl_tensor(view.tensor()); }

namespace detail {

// Of a function of libkernpack that failed: the error as an exception.
inline void check(int rc, const char* who) {
  if (KP_LIKELY(rc == 0)) return;
  KpAny error = kp_none();
  kp_error_take(who, rc, &error);
  throw Error(reinterpret_cast<KpErrorObject*>(error.v.v_obj));
}
inline Tensor owned(const KpAny& tensor) {
  return Tensor(kernpack::detail::Ref<KpTensorObject>(reinterpret_cast<KpTensorObject*>(tensor.v.v_obj)));
}

}  // namespace detail

/* Takes `managed` over. If it throws (ValueError, BufferError), the caller still owns it. */
inline Tensor own(DLManagedTensor* managed) {
  KpAny out = kp_none();
  detail::check(kp_dl_own(managed, &out), "kp::dlpack::own");
  return detail::owned(out);
}
/* Shares the memory; the receiver calls the deleter. BufferError if it is read-only, which this protocol can't say. */
inline DLManagedTensor* share(const Tensor& tensor) {
  DLManagedTensor* out = nullptr;
  detail::check(kp_dl_share(tensor.object().object(), &out), "kp::dlpack::share");
  return out;
}
#if defined(DLPACK_MAJOR_VERSION) && DLPACK_MAJOR_VERSION == 1
inline Tensor own(DLManagedTensorVersioned* managed) {
  KpAny out = kp_none();
  detail::check(kp_dl_own_versioned(managed, &out), "kp::dlpack::own");
  return detail::owned(out);
}
/* As share, for read-only tensors too: the flags say so. */
inline DLManagedTensorVersioned* share_versioned(const Tensor& tensor) {
  DLManagedTensorVersioned* out = nullptr;
  detail::check(kp_dl_share_versioned(tensor.object().object(), &out), "kp::dlpack::share_versioned");
  return out;
}
#endif

}  // namespace dlpack
KP_NAMESPACE_END

#endif /* __cplusplus */

#endif /* KERNPACK_DLPACK_H_ */
