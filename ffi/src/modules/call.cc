// kp_call: the checked call for C programs and other hosts.
#include <algorithm>
#include <string>

#include <kernpack/call_device.h>
#include <kernpack/signature/invoke.h>

#include "base/guard.h"
#include "modules/loaded_module.h"
#include "shared/drawn_extents.h"

namespace kernpack::host {
namespace {

int Raise(void*, const char* kind, KpBytes text) {
  return kp_raise(kind, "%.*s", static_cast<int>(text.size), text.data);
}

int Resolve(void* function, KpDLDevice device, KpSafeCall* out_call, void** out_self) {
  return kp_function_resolve(static_cast<const KpLoadedFunction*>(function), device, out_call, out_self);
}

int Allocate(void*, const KpDLTensor* prototype, KpAny* out) {
  return kp_host()->tensor_alloc(kp_host(), prototype, out);
}

// One buffer a function, kept between calls.
int Workspace(void* self, KpDLDevice device, uint64_t bytes, void** out_data) {
  const auto* function = static_cast<const KpLoadedFunction*>(self);
  const std::string name = std::string("kp_call.") + function->name;
  const KpStorageKey key{
      kp_bytes(function->module_name), KpBytes{name.data(), name.size()}, KP_SCOPE_STREAM, 0, device, nullptr};
  return kp_host()->workspace(kp_host(), &key, bytes, 0, out_data);
}

int CallUntyped(const KpLoadedFunction& function, const KpAny* args, int32_t num_args, KpAny* result) {
  KpSafeCall call = nullptr;
  void* self = nullptr;
  if (kp_function_resolve(&function, kp_call_device(args, num_args), &call, &self) != 0) return -1;
  const int rc = call(self, args, num_args, result);
  if (rc == 0 && kp_any_validate(result, function.name) != 0) {
    *result = kp_none();
    return -1;
  }
  return rc;
}

bool IsReadOnly(const KpAny& value) {
  return value.type_index == KP_TYPE_TENSOR && (kp_tensor_flags(value.v.v_obj) & 1) != 0;
}

bool HoldsReadOnly(const KpAny& value) {
  if (value.type_index == KP_TYPE_TENSOR) return IsReadOnly(value);
  if (value.type_index != KP_TYPE_ARRAY && value.type_index != KP_TYPE_LIST) return false;
  const auto* list = reinterpret_cast<const KpSequenceObject*>(value.v.v_obj);
  return std::any_of(list->data, list->data + list->size, IsReadOnly);
}

// Of a typed function what the contract says is written, of any other each argument.
int RefuseReadOnly(const KpLoadedFunction& function, const KpAny* args, int32_t num_args) {
  for (int32_t i = 0; i < num_args; ++i) {
    if (!HoldsReadOnly(args[i])) continue;
    std::string name = "argument " + std::to_string(i);
    if (function.program) {
      const signature::View program{function.program};
      const bool is_param = i < program.NumParams();
      if (is_param && !(signature::GetFlags(program.Param(i)) & KP_PARAM_MUTATED)) continue;
      if (!is_param && i - program.NumParams() >= program.NumResults()) continue;  // too many: refused later
      name = is_param ? program.ParamName(i) : program.ResultName(i - program.NumParams());
    }
    return kp_raise("ValueError",
                    "%s: %s: expected a writeable tensor (it may be written to; pass a copy), got a read-only one",
                    function.name, name.c_str());
  }
  return 0;
}

int Call(const KpLoadedFunction& function, const KpAny* args, int32_t num_args, KpAny* result) {
  *result = kp_none();
  if (num_args < 0 || (num_args > 0 && !args)) {
    return kp_raise("ValueError", "kp_call: %s: expected num_args values at args, got %s%d arguments", function.name,
                    num_args < 0 ? "" : "NULL for ", num_args);
  }
  for (int32_t i = 0; i < num_args; ++i) {
    const KpDLTensor* tensor = kp_any_tensor(&args[i]);
    if (tensor && kp_dltensor_validate(tensor, function.name) != 0) return -1;
  }
  if (RefuseReadOnly(function, args, num_args) != 0) return -1;
  if (!function.program) return CallUntyped(function, args, num_args, result);
  const signature::InvokePolicy policy{const_cast<KpLoadedFunction*>(&function), &Raise, &Resolve, &Allocate,
                                       &Workspace};
  using Invocation = signature::Invocation<DrawnExtents>;
  return Invocation(function.program, function.name, policy).Run(args, num_args, result);
}

}  // namespace
}  // namespace kernpack::host

int kp_call(const KpLoadedFunction* function, const KpAny* args, int32_t num_args, KpAny* result) {
  using namespace kernpack::host;
  return Guard(function->name, [&] { return Call(*function, args, num_args, result); });
}
