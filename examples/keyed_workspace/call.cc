// Loads the module beside it and calls it three times, for ctest: the workspace must be as clean the third time as the first.
#include <kernpack/host/host.h>

#include <cstdio>
#include <vector>

static int Report() {
  KpAny error = kp_none();
  kp_error_take("call", -1, &error);
  const auto* body = reinterpret_cast<const KpErrorObject*>(error.v.v_obj);
  std::fprintf(stderr, "%s: %s\n", body->kind.data, body->message.data);
  kp_any_release(&error);
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const char* const path = argv[1];
  const KpLoadedModule* module = nullptr;
  if (kp_module_load(&path, 1, KP_LOAD_DEFAULT, &module)) return Report();

  int64_t shape[2] = {3, 1000};
  std::vector<float> data(3000, 0.5F);
  KpDLTensor x = {data.data(), {KP_DEVICE_CPU, 0}, 2, {KP_DTYPE_FLOAT, 32, 1}, shape, nullptr, 0};
  KpAny args[2] = {kp_none(), kp_none()};
  args[0].type_index = KP_TYPE_DLTENSOR_PTR;
  args[0].v.v_tensor = &x;
  args[1].type_index = KP_TYPE_INT;
  args[1].v.v_int = 4;
  KpAny result = kp_none();
  for (int i = 0; i < 3; ++i) {
    if (kp_call(kp_module_function(module, kp_bytes("row_sum")), args, 2, &result)) return Report();
    const auto* sums = static_cast<const float*>(kp_any_tensor(&result)->data);
    std::printf("%g %g %g\n", static_cast<double>(sums[0]), static_cast<double>(sums[1]), static_cast<double>(sums[2]));
    kp_any_release(&result);
  }
  if (kp_call(kp_module_function(module, kp_bytes("calls")), nullptr, 0, &result)) return Report();
  std::printf("%d calls\n", static_cast<int>(result.v.v_int));
  return 0;
}
