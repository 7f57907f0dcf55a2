/* kernpack._core's functions, as api_table.h lists them. Each returns a new reference, or NULL: with a Python exception, or without
 * one where the host failed and has the error, which the caller then raises. */
#ifndef KERNPACK_PYTHON_API_API_H_
#define KERNPACK_PYTHON_API_API_H_

#include <kernpack/host/device.h>

#include "api_arguments.h"
#include "api_table.h"
#include "values/values.h"

KPY_HIDDEN extern PyMethodDef kpy_api_methods[];

#define KPY_PARAMS_0() void
#define KPY_PARAMS_1(k, n) KpyArg_##k n
#define KPY_PARAMS_2(k, n, ...) KpyArg_##k n, KPY_PARAMS_1(__VA_ARGS__)
#define KPY_PARAMS_3(k, n, ...) KpyArg_##k n, KPY_PARAMS_2(__VA_ARGS__)
#define KPY_PARAMS_4(k, n, ...) KpyArg_##k n, KPY_PARAMS_3(__VA_ARGS__)
#define KPY_PARAMS_5(k, n, ...) KpyArg_##k n, KPY_PARAMS_4(__VA_ARGS__)
#define KPY_PARAMS_6(k, n, ...) KpyArg_##k n, KPY_PARAMS_5(__VA_ARGS__)
#define KPY_DECLARED(count, name, who, result, ...) \
  KPY_HIDDEN PyObject* kpy_api_##name(KPY_PARAMS_##count(__VA_ARGS__));
KPY_API(KPY_DECLARED)
#undef KPY_DECLARED

/* The capsules that stand for a module, a profile and an object in Python. */
#define KPY_MODULE_CAPSULE "kernpack.module"
#define KPY_PROFILE_CAPSULE "kernpack.profile"
#define KPY_OBJECT_CAPSULE "kernpack.object"

/* None, where the host did it; for what a function returns. */
static inline PyObject* kpy_done(int rc) {
  PyObject* none = rc == 0 ? Py_None : NULL;
  Py_XINCREF(none);
  return none;
}

/* The host's answer, which is given up. */
static inline PyObject* kpy_given(int rc, KpAny* answer) {
  PyObject* object = rc == 0 ? kpy_to_python(answer, NULL) : NULL;
  if (rc == 0) kp_any_release(answer);
  return object;
}

/* function.c: after the checking mode went on or off, or a profile. */
KPY_HIDDEN void kpy_follow_watchers(void);

/* The backend of a device's type; NULL with an error in the host. */
static inline const KpDeviceApi* kpy_device_api(KpDLDevice device) {
  const KpDeviceApi* api = NULL;
  return kp_device_api(device.device_type, &api) == 0 ? api : NULL;
}

#endif /* KERNPACK_PYTHON_API_API_H_ */
