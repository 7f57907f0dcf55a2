// Module tables made in a test and adopted by the host.
#pragma once

#include <kernpack/host/host.h>

#include <deque>
#include <string>
#include <vector>

namespace loader_test {

// Lives until the process ends, as an adopted module must.
struct Table {
  std::deque<KpFunctionInfo> infos;
  std::vector<KpFunctionDef> entries;
  KpModule module{};

  KpFunctionInfo& Add(const char* name, KpSafeCall call) {
    KpFunctionInfo& info = infos.emplace_back(KpFunctionInfo{});
    info.struct_size = sizeof info;
    entries.push_back(KpFunctionDef{name, call, &info});
    return info;
  }

  const KpModule* Finish(const char* name) {
    module.struct_size = sizeof module;
    module.abi_version = KP_ABI_VERSION;
    module.min_host_abi = KP_ABI_MAJOR << 16;
    module.name = name;
    module.version = "1.0";
    module.sdk_version = "test";
    module.functions = entries.data();
    module.functions_end = entries.data() + entries.size();
    return &module;
  }
};

inline Table& NewTable() { return *new Table; }

// "Kind: message" of the raised error.
inline std::string TakeError() {
  KpAny error = kp_none();
  kp_error_take("test", -1, &error);
  const auto* body = reinterpret_cast<const KpErrorObject*>(error.v.v_obj);
  std::string text = std::string(body->kind.data) + ": " + body->message.data;
  kp_any_release(&error);
  return text;
}

inline std::string TakeText(KpAny* value) {
  KpBytes text{nullptr, 0};
  const int is_text = kp_any_str(value, &text);
  std::string copy = is_text ? std::string(text.data, text.size) : "(no text)";
  kp_any_release(value);
  return copy;
}

inline KpAny TensorValue(KpDLTensor* tensor) {
  KpAny value = kp_none();
  value.type_index = KP_TYPE_DLTENSOR_PTR;
  value.v.v_tensor = tensor;
  return value;
}

// Answers with a number, so that a test sees which one was called.
template <int number>
int Answer(void*, const KpAny*, int32_t, KpAny* result) {
  result->type_index = KP_TYPE_INT;
  result->v.v_int = number;
  return 0;
}

}  // namespace loader_test
