/* Results for frameworks with an exchange table. */
#include "python/errors.h"
#include "call/frame.h"
#include "python/threads.h"

#include <stdio.h>
#include <string.h>

static KpyFamily* g_families[16]; /* the lock guards both */
static int g_count;

typedef struct AllocError {
  char kind[64];
  char message[256];
} AllocError;

static void NoteError(void* context, const char* kind, const char* message) {
  AllocError* error = (AllocError*)context;
  (void)snprintf(error->kind, sizeof(error->kind), "%s", kind ? kind : "RuntimeError");
  (void)snprintf(error->message, sizeof(error->message), "%s", message ? message : "allocation failed");
}

static int Allocate(KpyCall* call, const KpyFamily* family, const KpDLTensor* prototype, int32_t index, KpAny* out) {
  KpDLManagedTensorVersioned* managed = NULL;
  KpDLTensor copy = *prototype;
  AllocError error = {"MemoryError", "allocation failed"};
  if (family->api->allocate(&copy, &managed, &error, NoteError) != 0 || managed == NULL) {
    PyErr_Clear();
    (void)kp_raise(error.kind, "%s: cannot allocate a result in %s: %s", call->function->name, family->name,
                   error.message);
    (void)kpy_raise_host(NULL, -1);
    return -1;
  }
  call->results[index] = managed;
  out->type_index = KP_TYPE_DLTENSOR_PTR;
  out->small_len = 0;
  out->v.v_tensor = &managed->tensor;
  return 0;
}

static PyObject* Finish(KpyCall* call, const KpyFamily* family, int32_t index) {
  void* object = NULL;
  if (family->api->managed_to_object((KpDLManagedTensorVersioned*)call->results[index], &object) != 0) return NULL;
  return (PyObject*)object;
}

static void Discard(KpyCall* call, int32_t index) {
  KpDLManagedTensorVersioned* managed = (KpDLManagedTensorVersioned*)call->results[index];
  if (managed->deleter != NULL) managed->deleter(managed);
}

static PyObject* Wrap(const KpyFamily* family, KpObject* tensor) {
  KpDLManagedTensorVersioned* managed = NULL;
  void* object = NULL;
  if (kp_tensor_to_dlpack_versioned(tensor, &managed) != 0) return kpy_raise_host(NULL, -1);
  if (family->api->managed_to_object(managed, &object) != 0) return NULL;
  return (PyObject*)object;
}

/* Allocates the tensor of kp::Tensor::Empty in a kernel. Without the GIL. */
static int TensorAlloc(void* context, const KpDLTensor* prototype, KpAny* out) {
  const KpyFamily* family = (const KpyFamily*)context;
  KpDLManagedTensorVersioned* managed = NULL;
  KpDLTensor copy = *prototype;
  AllocError error = {"MemoryError", "allocation failed"};
  if (family->api->allocate(&copy, &managed, &error, NoteError) != 0 || managed == NULL) {
    return kp_raise(error.kind, "cannot allocate a tensor in %s: %s", family->name, error.message);
  }
  return kp_tensor_from_dlpack_versioned(managed, out);
}

/* The lock is held. */
static const KpyFamily* Known(const KpyExchangeApi* api) {
  int i;
  for (i = 0; i < g_count; ++i) {
    if (g_families[i]->api == api) return g_families[i];
  }
  return NULL;
}

const KpyFamily* kpy_exchange_family(const KpyExchangeApi* api, PyTypeObject* type, const char* name) {
  const KpyFamily* known;
  KpyFamily* family;
  kpy_lock();
  known = Known(api);
  kpy_unlock();
  if (known != NULL) return known;
  family = (KpyFamily*)PyMem_Calloc(1, sizeof(KpyFamily));
  if (family == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  family->name = name;
  family->api = api;
  family->type = type;
  Py_INCREF((PyObject*)type);
  if (api->allocate != NULL && api->managed_to_object != NULL) {
    family->allocate = Allocate;
    family->finish = Finish;
    family->discard = Discard;
    family->wrap = Wrap;
    family->tensor_alloc = TensorAlloc;
    if (strcmp(name, "torch") == 0) kpy_torch_family_init(family);
  } else { /* a table that only reads: results are ours */
    const KpyFamily* own = kpy_own_family();
    family->allocate = own->allocate;
    family->finish = own->finish;
    family->discard = own->discard;
    family->wrap = own->wrap;
  }
  /* Beyond the table, or where another thread was quicker, a family is simply made again: a leak of one record a type, once. */
  kpy_lock();
  known = Known(api);
  if (known == NULL && g_count < (int)(sizeof(g_families) / sizeof(g_families[0]))) g_families[g_count++] = family;
  kpy_unlock();
  return known != NULL ? known : family;
}
