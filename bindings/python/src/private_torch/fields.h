/* Fields inside torch's tensors that tell at a glance that a tensor is plain: its dispatch keys, and the record that
 * autograd keeps of it, with its tangent. torch promises no layout, so the offsets are found anew in each process by comparing samples with
 * what torch's own Python functions say of them; where that is not conclusive, the fields are not used. */
#ifndef KERNPACK_PYTHON_PRIVATE_TORCH_FIELDS_H_
#define KERNPACK_PYTHON_PRIVATE_TORCH_FIELDS_H_

#include "private_torch/switch.h"
#include "python/threads.h"

typedef struct KpyTorchLayout {
  int found; /* the offsets are sure */
  Py_ssize_t impl; /* in the Python object: pointer to the C++ tensor */
  Py_ssize_t keys; /* in the C++ tensor: dispatch keys, 64 bits */
  Py_ssize_t autograd; /* in the C++ tensor: pointer, NULL: neither a gradient nor a tangent */
  Py_ssize_t tangent; /* in the record that `autograd` points to: pointer, NULL: no tangent, and none before */
  void (*bump)(const void* tensor); /* torch::autograd::impl::bump_version(const at::Tensor&); nullable */
  uint64_t counted; /* keys of tensors that have a version counter */
  uint64_t plain; /* keys of dense tensors on a real device; any other key asks for care */
} KpyTorchLayout;

KPY_HIDDEN extern KpyTorchLayout kpy_torch_layout;

/* Turns the hooks on that are sure: the fields, and the version counter, which is found through them. */
KPY_HIDDEN void kpy_torch_layout_init(void);

/* Everything below but kpy_torch_bump needs this to be true. */
static inline int kpy_torch_fields_known(void) { return KPY_PUBLISHED(kpy_torch_hook_on[KPY_TORCH_FIELDS]); }

static inline const char* kpy_torch_impl(PyObject* tensor) {
  return *(const char* const*)(const void*)((const char*)tensor + kpy_torch_layout.impl);
}
static inline uint64_t kpy_torch_keys(PyObject* tensor) {
  return *(const uint64_t*)(const void*)(kpy_torch_impl(tensor) + kpy_torch_layout.keys);
}
static inline int kpy_torch_has_plain_keys(PyObject* tensor) {
  return (kpy_torch_keys(tensor) & ~kpy_torch_layout.plain) == 0;
}
/* Counts a write to the tensor in its version counter: 1; 0: not this way. */
static inline int kpy_torch_bump(PyObject* tensor) {
  if (!KPY_PUBLISHED(kpy_torch_hook_on[KPY_TORCH_VERSIONS]) || !kpy_torch_layout.found) return 0;
  if ((kpy_torch_keys(tensor) & kpy_torch_layout.counted) == 0) return 0;
  kpy_torch_layout.bump((const char*)tensor + kpy_torch_layout.impl); /* an at::Tensor is that one pointer */
  return 1;
}
static inline int kpy_torch_has_autograd(PyObject* tensor) {
  return *(void* const*)(const void*)(kpy_torch_impl(tensor) + kpy_torch_layout.autograd) != NULL;
}
/* 0: surely without a tangent; forward mode tells no better, since compiled programs enter its levels behind Python's back. */
static inline int kpy_torch_may_have_tangent(PyObject* tensor) {
  const char* record = *(const char* const*)(const void*)(kpy_torch_impl(tensor) + kpy_torch_layout.autograd);
  return record != NULL && *(void* const*)(const void*)(record + kpy_torch_layout.tangent) != NULL;
}

#endif /* KERNPACK_PYTHON_PRIVATE_TORCH_FIELDS_H_ */
