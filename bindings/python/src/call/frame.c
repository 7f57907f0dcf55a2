/* The memory of one call: inline arrays on the C stack, the heap only beyond them. */
#include "frame.h"
#include "values/values.h"

void kpy_call_end(KpyCall* call) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value,
              &trace); /* a producer's deleter may be Python, which does not run with an error in flight */
  while (call->num_keeps > 0) {
    int32_t i = --call->num_keeps;
    KpyKeep* keep = i < KPY_INLINE_VALUES ? &call->keeps[i] : &call->keeps_more[i - KPY_INLINE_VALUES];
    keep->release(keep->what);
  }
  if (call->keeps_more != NULL) PyMem_Free(call->keeps_more);
  PyErr_Restore(type, value, trace);
}

int kpy_call_keep(KpyCall* call, void* what, void (*release)(void* what)) {
  KpyKeep* keep;
  if (call->num_keeps < KPY_INLINE_VALUES) {
    keep = &call->keeps[call->num_keeps];
  } else {
    int32_t beyond = call->num_keeps - KPY_INLINE_VALUES;
    if (beyond == call->keeps_capacity) {
      int32_t capacity = call->keeps_capacity ? 2 * call->keeps_capacity : 64;
      KpyKeep* more = (KpyKeep*)PyMem_Realloc(call->keeps_more, (size_t)capacity * sizeof(KpyKeep));
      if (more == NULL) {
        release(what);
        PyErr_NoMemory();
        return -1;
      }
      call->keeps_more = more;
      call->keeps_capacity = capacity;
    }
    keep = &call->keeps_more[beyond];
  }
  keep->what = what;
  keep->release = release;
  ++call->num_keeps;
  return 0;
}

void kpy_release_object(void* object) { Py_DECREF((PyObject*)object); }

static void ReleaseHostObject(void* object) { kp_release((KpObject*)object); }

int kpy_call_keep_object(KpyCall* call, PyObject* stolen) { return kpy_call_keep(call, stolen, kpy_release_object); }

int kpy_call_keep_any(KpyCall* call, const KpAny* owned) {
  if (!kp_is_object(owned)) return 0;
  return kpy_call_keep(call, owned->v.v_obj, ReleaseHostObject);
}

/* Beyond the inline arrays, each piece is a heap block that the call frees at its end. */
void* kpy_call_memory(KpyCall* call, size_t bytes) {
  void* piece = PyMem_Malloc(bytes);
  if (piece == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  return kpy_call_keep(call, piece, PyMem_Free) == 0 ? piece : NULL;
}
