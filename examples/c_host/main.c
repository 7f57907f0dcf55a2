/* A plain C program that loads a kernel module and calls it. No Python, no C++.
 *
 *   c_host MODULE.so     prints the module's functions, then y = 2 * x + y computed by its function `axpy` */
#include <kernpack/host/host.h>
#include <stdio.h>

static int report(const char* what) {
  KpAny error = kp_none();
  const KpErrorObject* body;
  kp_error_take(what, -1, &error);
  body = (const KpErrorObject*)(const void*)error.v.v_obj;
  fprintf(stderr, "%s: %s\n", body->kind.data, body->message.data);
  kp_any_release(&error);
  return 1;
}

static KpAny tensor_value(KpDLTensor* tensor) {
  KpAny value = kp_none();
  value.type_index = KP_TYPE_DLTENSOR_PTR;
  value.v.v_tensor = tensor;
  return value;
}

int main(int argc, char** argv) {
  const KpLoadedModule* module = NULL;
  const KpLoadedFunction* axpy;
  float x[3] = {1, 2, 3};
  float y[3] = {10, 20, 30};
  float out[3] = {0, 0, 0};
  int64_t shape[1] = {3};
  int64_t shorter[1] = {2};
  KpDLTensor views[3] = {{0}};
  KpAny args[4];
  KpAny result = kp_none();
  float* data[3];
  int32_t i;

  if (argc != 2) {
    fprintf(stderr, "usage: %s MODULE.so\n", argv[0]);
    return 2;
  }
  if (kp_module_load((const char* const*)&argv[1], 1, KP_LOAD_DEFAULT, &module) != 0) return report("kp_module_load");
  printf("%s %s\n", kp_module_name(module), kp_module_version(module));
  for (i = 0; i < kp_module_function_count(module); ++i) {
    const KpLoadedFunction* function = kp_module_function_at(module, i);
    if (!function) return report("kp_module_function_at");
    printf("  %s%s\n", function->name, function->signature ? kp_signature_text(function->signature) : "");
  }

  axpy = kp_module_function(module, kp_bytes("axpy"));
  if (!axpy) {
    fprintf(stderr, "%s has no function axpy\n", argv[1]);
    return 1;
  }
  data[0] = x;
  data[1] = y;
  data[2] = out;
  for (i = 0; i < 3; ++i) {
    views[i].data = data[i];
    views[i].device.device_type = KP_DEVICE_CPU;
    views[i].ndim = 1;
    views[i].dtype.code = KP_DTYPE_FLOAT;
    views[i].dtype.bits = 32;
    views[i].dtype.lanes = 1;
    views[i].shape = shape;
  }
  /* The parameters in order, then the destination of the result. */
  args[0] = tensor_value(&views[0]);
  args[1] = tensor_value(&views[1]);
  args[2] = kp_none();
  args[2].type_index = KP_TYPE_FLOAT;
  args[2].v.v_float = 2.0;
  args[3] = tensor_value(&views[2]);
  if (kp_call(axpy, args, 4, &result) != 0) return report("axpy");
  printf("2 * x + y = %g %g %g\n", out[0], out[1], out[2]);

  /* A wrong call is an error, never a crash. */
  views[1].shape = shorter;
  if (kp_call(axpy, args, 4, &result) == 0) return 1;
  return report("axpy") == 1 ? 0 : 1;
}
