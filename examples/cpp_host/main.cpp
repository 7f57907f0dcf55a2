// A C++ program with a kernel module linked into it: no file is loaded.
#include <kernpack/host/host.h>

#include <cstdio>
#include <string>
#include <vector>

extern "C" const KpModule* kp_module_v1_scaling(void);

namespace {

int Fail(const char* what) {
  KpAny error = kp_none();
  kp_error_take(what, -1, &error);
  const auto* body = reinterpret_cast<const KpErrorObject*>(error.v.v_obj);
  std::fprintf(stderr, "%s: %s\n", body->kind.data, body->message.data);
  kp_any_release(&error);
  return 1;
}

}  // namespace

int main() {
  const KpLoadedModule* module = nullptr;
  if (kp_module_adopt(kp_module_v1_scaling(), &module) != 0) return Fail("kp_module_adopt");

  std::vector<float> x = {1, 2, 3, 4, 5, 6};
  int64_t shape[] = {2, 3};
  KpDLTensor view = {x.data(), {KP_DEVICE_CPU, 0}, 2, {KP_DTYPE_FLOAT, 32, 1}, shape, nullptr, 0};
  KpAny args[2] = {kp_none(), kp_none()};
  args[0].type_index = KP_TYPE_DLTENSOR_PTR;
  args[0].v.v_tensor = &view;
  args[1].type_index = KP_TYPE_FLOAT;
  args[1].v.v_float = 0.5;

  // Only the parameters: the result is allocated, and ours to release.
  KpAny result = kp_none();
  const KpLoadedFunction* scale = kp_module_function(module, kp_bytes("scale"));
  if (scale == nullptr) return Fail("kp_module_function");
  if (kp_call(scale, args, 2, &result) != 0) return Fail("scale");
  const KpDLTensor* out = kp_any_tensor(&result);
  std::printf("%s %s: [%lld, %lld]", kp_module_name(module), scale->name, static_cast<long long>(out->shape[0]),
              static_cast<long long>(out->shape[1]));
  for (int i = 0; i < 6; ++i) std::printf(" %g", static_cast<double>(static_cast<const float*>(out->data)[i]));
  std::printf("\n");
  kp_any_release(&result);
  return kp_host_shutdown();
}
