// Functions made from a C callback, and calling any function object.
#include <kernpack/host/host.h>

#include "base/guard.h"
#include "values/object/object.h"
#include "values/guests.h"

namespace kernpack::host {
namespace {

struct FunctionBody {
  KpFunctionObject base;
  void* context;
  KpSafeCall call;
  void (*context_deleter)(void*);
};

int CallBody(void* self, const KpAny* args, int32_t num_args, KpAny* result) {
  auto* function = static_cast<FunctionBody*>(self);
  return Guard("callback", [&] { return function->call(function->context, args, num_args, result); });
}

void DeleteFunction(void* object, int flags) noexcept {
  auto* function = static_cast<FunctionBody*>(object);
  if ((flags & KP_DELETE_STRONG) && function->context_deleter) function->context_deleter(function->context);
  if (flags & KP_DELETE_WEAK) FreeObject(object);
}

}  // namespace
}  // namespace kernpack::host

using namespace kernpack::host;

int kp_function_new(void* context, KpSafeCall call, void (*deleter)(void* context), KpAny* out) {
  return Guard("kp_function_new", [&] {
    if (call == nullptr) return kp_raise("ValueError", "kp_function_new: call is NULL");
    auto* function = NewObject<FunctionBody>(KP_TYPE_FUNCTION, DeleteFunction);
    function->base.call = CallBody;
    function->context = context;
    function->call = call;
    function->context_deleter = deleter;
    SetObject(out, function);
    return 0;
  });
}

void* kp_function_context(KpObject* function, KpSafeCall call) {
  if (reinterpret_cast<KpFunctionObject*>(function)->call != CallBody) return nullptr;
  const auto* body = reinterpret_cast<FunctionBody*>(function);
  return body->call == call ? body->context : nullptr;
}

int kp_function_call(KpObject* function, const KpAny* args, int32_t num_args, KpAny* result) {
  return Guard("kp_function_call", [&] {
    *result = kp_none();
    if (function == nullptr || function->type_index != KP_TYPE_FUNCTION) {
      return kp_raise("TypeError", "kp_function_call: expected a Function, got %s",
                      function ? kp_type_name(function->type_index) : "NULL");
    }
    if (num_args < 0 || (num_args > 0 && args == nullptr)) {
      return kp_raise("ValueError", "kp_function_call: num_args is %d and args is %s", num_args, args ? "set" : "NULL");
    }
    const auto* body = reinterpret_cast<KpFunctionObject*>(function);
    if (body->cpp_call != nullptr && kGuests.check_arguments("function", args, num_args) != 0) return -1;
    const int rc = body->call(function, args, num_args, result);
    if (rc != 0) {
      kp_any_release(result);
      return -1;
    }
    if (result->type_index >= KP_TYPE_DLTENSOR_PTR && result->type_index <= KP_TYPE_RVALUE_REF) {
      const int32_t index = result->type_index;
      *result = kp_none();
      return kp_raise("TypeError",
                      "a function returned a borrowed %s, which dangles after the call; it must return an owned value",
                      kp_type_name(index));
    }
    if (kp_any_validate(result, "what a function returned") != 0) {
      *result = kp_none();
      return -1;
    }
    return 0;
  });
}
