/* A program that holds two generated modules: adopts each, and calls the function `f` of each, which scales by its factor. */
#include <kernpack/host/host.h>
#include <stdio.h>

const KpModule* kp_module_v1_one(void);
const KpModule* kp_module_v1_two(void);

static KpAny TensorArgument(KpDLTensor* tensor) {
  KpAny any = kp_none();
  any.type_index = KP_TYPE_DLTENSOR_PTR;
  any.v.v_tensor = tensor;
  return any;
}

static int Fail(const char* who) {
  KpAny error;
  kp_error_take(who, -1, &error);
  fprintf(stderr, "%s: %s\n", who, ((const KpErrorObject*)error.v.v_obj)->message.data);
  kp_any_release(&error);
  return 1;
}

static int Check(const KpModule* table, float factor) {
  float in[3] = {1, 2, 3}, out[3] = {0};
  int64_t shape[1] = {3};
  KpDLTensor x = {in, {KP_DEVICE_CPU, 0}, 1, {KP_DTYPE_FLOAT, 32, 1}, shape, NULL, 0}, o = x;
  const KpLoadedModule* module = NULL;
  if (kp_module_adopt(table, &module) != 0) return Fail("kp_module_adopt");
  const KpLoadedFunction* f = kp_module_function(module, kp_bytes("f"));
  if (!f) return Fail("kp_module_function");
  o.data = out;
  const KpAny args[2] = {TensorArgument(&x), TensorArgument(&o)};
  KpAny result = kp_none();
  if (kp_call(f, args, 2, &result) != 0) return Fail("kp_call");
  for (int i = 0; i < 3; ++i) {
    if (out[i] != in[i] * factor) return fprintf(stderr, "%s: element %d is %g\n", table->name, i, out[i]), 1;
  }
  return 0;
}

int main(void) { return Check(kp_module_v1_one(), 1) || Check(kp_module_v1_two(), 2); }
