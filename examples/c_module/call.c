/* Loads the module beside it and calls saxpy, for ctest: 2 * x + y. */
#include <kernpack/host/host.h>
#include <stdio.h>

static int report(void) {
  KpAny error = kp_none();
  const KpErrorObject* body;
  kp_error_take("call", -1, &error);
  body = (const KpErrorObject*)(const void*)error.v.v_obj;
  fprintf(stderr, "%s: %s\n", body->kind.data, body->message.data);
  kp_any_release(&error);
  return 1;
}

int main(int argc, char** argv) {
  const KpLoadedModule* module = NULL;
  float x[3] = {1, 2, 3}, y[3] = {10, 20, 30};
  int64_t shape[1] = {3};
  KpDLTensor views[2] = {{0}};
  KpAny args[3], result = kp_none();
  const float* out;
  int i;

  if (argc != 2) return 2;
  if (kp_module_load((const char* const*)&argv[1], 1, KP_LOAD_DEFAULT, &module) != 0) return report();
  for (i = 0; i < 2; ++i) {
    views[i].data = i ? y : x;
    views[i].device.device_type = KP_DEVICE_CPU;
    views[i].ndim = 1;
    views[i].dtype.code = KP_DTYPE_FLOAT;
    views[i].dtype.bits = 32;
    views[i].dtype.lanes = 1;
    views[i].shape = shape;
    args[i] = kp_none();
    args[i].type_index = KP_TYPE_DLTENSOR_PTR;
    args[i].v.v_tensor = &views[i];
  }
  args[2] = kp_none();
  args[2].type_index = KP_TYPE_INT; /* the contract says float: an int will do, of which the host makes one */
  args[2].v.v_int = 2;
  if (kp_call(kp_module_function(module, kp_bytes("saxpy")), args, 3, &result) != 0) return report();
  out = (const float*)kp_any_tensor(&result)->data;
  printf("%g %g %g\n", (double)out[0], (double)out[1], (double)out[2]);
  kp_any_release(&result);
  return 0;
}
