/* Results as torch tensors: memory from torch's C shim (no dispatcher, no capsule), wrapped by torch's own function. */
#include "python/errors.h"
#include "call/frame.h"
#include "private_torch/results.h"
#include "python/threads.h"
#include "guard_torch.h"

#include <kernpack/dtype_table.h>
#include <string.h>

typedef KpyTorchHandle Handle;

static int32_t (*g_empty_strided)(int64_t ndim, const int64_t* sizes, const int64_t* strides, int32_t dtype,
                                  int32_t device_type, int32_t device_index, Handle** out);
static int32_t (*g_get_data_ptr)(Handle* handle, void** out);
static int32_t (*g_delete)(Handle* handle);
static KpyTorchWrap g_wrap;
static int32_t g_cpu, g_cuda; /* torch's numbers of device types */

#define PLACE(constant, name, word, code, bits) kAt_##constant,
enum { KP_DTYPES(PLACE) kNumDTypes };
#undef PLACE
static int32_t g_numbers[kNumDTypes]; /* torch's numbers; -1: it has none */

static int32_t GetNumber(const char* getter) {
  int32_t (*get)(void) = (int32_t (*)(void))kpy_torch_symbol(getter);
  return get == NULL ? -1 : get();
}

static int32_t DTypeNumber(KpDLDataType dtype) {
  if (dtype.lanes != 1) return -1;
#define NUMBER(constant, name, word, code, bits) \
  case KP_DTYPE_##code << 8 | bits:              \
    return g_numbers[kAt_##constant];
  switch (dtype.code << 8 | dtype.bits) { KP_DTYPES(NUMBER) }
#undef NUMBER
  return -1;
}

static int32_t DeviceNumber(KpDLDevice device) {
  if (device.device_type == KP_DEVICE_CPU) return g_cpu;
  return device.device_type == KP_DEVICE_CUDA ? g_cuda : -1;
}

/* The tensor and the address of its memory; NULL without an error: not this way. */
static PyObject* NewByShim(const KpDLTensor* prototype, void** data) {
  const int32_t dtype = DTypeNumber(prototype->dtype), device = DeviceNumber(prototype->device);
  Handle* handle;
  PyObject* tensor;
  if (dtype < 0 || device < 0 || !KPY_PUBLISHED(kpy_torch_hook_on[KPY_TORCH_RESULTS])) return NULL;
  if (g_empty_strided(prototype->ndim, prototype->shape, prototype->strides, dtype, device, prototype->device.device_id,
                      &handle) != 0) {
    return NULL; /* the other way says why */
  }
  tensor = g_get_data_ptr(handle, data) == 0 ? g_wrap(handle) : NULL;
  (void)g_delete(handle);
  return tensor;
}

typedef struct AllocError {
  const KpyCall* call;
  const char* family;
} AllocError;

static void RaiseAllocError(void* context, const char* kind, const char* message) {
  const AllocError* error = (const AllocError*)context;
  (void)kp_raise(kind ? kind : "RuntimeError", "%s: cannot allocate a result in %s: %s", error->call->function->name,
                 error->family, message ? message : "no reason given");
}

/* Through the exchange table: every dtype and device, and every reason why not. */
static PyObject* NewByExchange(KpyCall* call, const KpyFamily* family, const KpDLTensor* prototype, void** data) {
  AllocError error = {call, family->name};
  KpDLManagedTensorVersioned* managed = NULL;
  KpDLTensor copy = *prototype;
  void* tensor = NULL;
  if (family->api->allocate(&copy, &managed, &error, RaiseAllocError) != 0 || managed == NULL) {
    PyErr_Clear();
    (void)kpy_raise_host(call->function->name, -1);
    return NULL;
  }
  *data = managed->tensor.data;
  if (family->api->managed_to_object(managed, &tensor) != 0) return NULL;
  return (PyObject*)tensor;
}

static int Allocate(KpyCall* call, const KpyFamily* family, const KpDLTensor* prototype, int32_t index, KpAny* out) {
  void* data = NULL;
  PyObject* tensor = NewByShim(prototype, &data);
  if (tensor == NULL && !PyErr_Occurred()) tensor = NewByExchange(call, family, prototype, &data);
  return kpy_hold_object(call, prototype, index, tensor, data, out);
}

typedef struct Trial {
  const KpyFamily* family;
  int works;
} Trial;

/* A sample must come out as the exchange table reads it. In a fresh thread: a mode of torch would make another tensor of it. */
static void Try(void* argument) {
  Trial* trial = (Trial*)argument;
  const KpyFamily* family = trial->family;
  int64_t shape[2] = {2, 3}, strides[2] = {3, 1};
  KpDLTensor prototype = {0}, seen;
  void* data = NULL;
  PyObject* tensor;
  prototype.dtype.code = KP_DTYPE_FLOAT;
  prototype.dtype.bits = 32;
  prototype.dtype.lanes = 1;
  prototype.device.device_type = KP_DEVICE_CPU;
  prototype.ndim = 2;
  prototype.shape = shape;
  prototype.strides = strides;
  tensor = NewByShim(&prototype, &data);
  trial->works = tensor != NULL && Py_TYPE(tensor) == family->type &&
                 family->api->view_from_object(tensor, &seen) == 0 && seen.data == data && seen.ndim == 2 &&
                 memcmp(seen.shape, shape, sizeof(shape)) == 0 && memcmp(seen.strides, strides, sizeof(strides)) == 0 &&
                 seen.dtype.code == KP_DTYPE_FLOAT && seen.dtype.bits == 32;
  PyErr_Clear();
  Py_XDECREF(tensor);
}

void kpy_torch_family_init(KpyFamily* family) {
  Trial trial = {family, 0};
  g_empty_strided = (int32_t (*)(int64_t, const int64_t*, const int64_t*, int32_t, int32_t, int32_t,
                                 Handle**))kpy_torch_symbol("aoti_torch_empty_strided");
  g_get_data_ptr = (int32_t (*)(Handle*, void**))kpy_torch_symbol("aoti_torch_get_data_ptr");
  g_delete = (int32_t (*)(Handle*))kpy_torch_symbol("aoti_torch_delete_tensor_object");
  g_wrap = kpy_torch_find_wrap();
  if (g_wrap == NULL && kpy_torch_hook_allowed(KPY_TORCH_RESULTS)) kpy_torch_hook_found(KPY_TORCH_RESULTS, 0);
  if (g_empty_strided == NULL || g_get_data_ptr == NULL || g_delete == NULL || g_wrap == NULL) return;
  g_cpu = GetNumber("aoti_torch_device_type_cpu");
  g_cuda = GetNumber("aoti_torch_device_type_cuda");
#define ASK(constant, name, word, code, bits) g_numbers[kAt_##constant] = GetNumber("aoti_torch_dtype_" word);
  KP_DTYPES(ASK)
#undef ASK
  kpy_torch_hook_found(KPY_TORCH_RESULTS, 1); /* to be tried */
  kpy_torch_run_check(Try, &trial);
  if (!trial.works) {
    kpy_torch_hook_found(KPY_TORCH_RESULTS, 0);
    return;
  }
  family->allocate = Allocate;
  family->finish = kpy_finish_object;
  family->discard = kpy_discard_object;
}
