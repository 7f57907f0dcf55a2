// run_custom_device BACKEND MODULE: calls one kernel on tensors of the toy and of the processor, and prints both results.
#include <cstdio>
#include <string>

#include <kernpack/host/device.h>

namespace {

constexpr int64_t kCount = 4;

int Fail() {
  KpAny error = kp_none();
  kp_error_take("run_custom_device", -1, &error);
  const auto* object = reinterpret_cast<const KpErrorObject*>(error.v.v_obj);
  std::fprintf(stderr, "%s: %s\n", object->kind.data, object->message.data);
  return 1;
}

KpDLTensor Vector(KpDLDevice device, float* data) {
  static int64_t shape = kCount;
  return {data, device, 1, {KP_DTYPE_FLOAT, 32, 1}, &shape, nullptr, 0};
}

KpAny Argument(const KpAny& tensor) {
  KpAny value = kp_none();
  value.type_index = KP_TYPE_TENSOR;
  value.v = tensor.v;
  return value;
}

int RunOn(const char* name, const KpLoadedFunction* axpy) {
  KpDLDevice device{};
  if (kp_device_from_name(kp_bytes(name), &device) != 0) return Fail();
  float x[] = {1, 2, 3, 4};
  float y[] = {10, 20, 30, 40};
  float sum[kCount] = {};
  const KpDLTensor here[] = {Vector({KP_DEVICE_CPU, 0}, x), Vector({KP_DEVICE_CPU, 0}, y)};
  const KpDLTensor there = Vector(device, nullptr);
  KpAny arguments[2];
  KpAny result = kp_none();
  for (int i = 0; i < 2; ++i) {
    KpAny tensor = kp_none();
    if (kp_tensor_alloc(&there, KpBytes{}, &tensor) != 0) return Fail();
    if (kp_copy(&here[i], kp_any_tensor(&tensor)) != 0) return Fail();
    arguments[i] = Argument(tensor);
  }
  if (kp_call(axpy, arguments, 2, &result) != 0) return Fail();
  const KpDLTensor out = Vector({KP_DEVICE_CPU, 0}, sum);
  if (kp_copy(kp_any_tensor(&result), &out) != 0) return Fail();
  std::printf("%s:%d", kp_device_type_name(device.device_type), device.device_id);
  for (const float value : sum) std::printf(" %g", static_cast<double>(value));
  std::printf("\n");
  for (KpAny& argument : arguments) kp_any_release(&argument);
  kp_any_release(&result);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s BACKEND MODULE\n", argv[0]);
    return 2;
  }
  const KpLoadedModule* module = nullptr;
  if (kp_backend_load(argv[1]) != 0 || kp_module_load(&argv[2], 1, KP_LOAD_DEFAULT, &module) != 0) return Fail();
  const KpLoadedFunction* axpy = kp_module_function(module, kp_bytes("axpy"));
  for (const char* name : {"toy", "cpu"}) {
    if (RunOn(name, axpy) != 0) return 1;
  }
  return 0;
}
