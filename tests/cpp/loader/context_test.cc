// Functions that share one piece of code: which of them was called is their context.
#include <gtest/gtest.h>

#include "table.h"

namespace loader_test {
namespace {

int g_instance_data;

int CreateInstance(const KpHost*, KpInstance** out) {
  *out = reinterpret_cast<KpInstance*>(&g_instance_data);
  return 0;
}

// Answers with the number at its context.
int TellContext(void* self, const KpAny*, int32_t, KpAny* result) {
  const auto* call = static_cast<const KpFunctionSelf*>(self);
  EXPECT_GE(call->struct_size, KP_FUNCTION_SELF_SIZE_V1);
  EXPECT_EQ(call->host, kp_host());
  EXPECT_EQ(call->instance, reinterpret_cast<KpInstance*>(&g_instance_data));
  result->type_index = KP_TYPE_INT;
  result->v.v_int = *static_cast<const int64_t*>(call->context);
  return 0;
}

int TellInstance(void* self, const KpAny*, int32_t, KpAny* result) {
  result->type_index = KP_TYPE_BOOL;
  result->v.v_int = self == &g_instance_data;
  return 0;
}

int64_t Call(const KpLoadedModule* module, const std::string& name) {
  KpAny result = kp_none();
  const KpLoadedFunction* function = kp_module_function(module, kp_bytes(name.c_str()));
  EXPECT_EQ(kp_call(function, nullptr, 0, &result), 0) << TakeError();
  return result.v.v_int;
}

TEST(LoaderContext, ThousandsOfFunctionsShareOnePieceOfCode) {
  constexpr int kFunctions = 5000;
  static std::deque<std::string> names;
  static std::deque<int64_t> numbers;
  Table& table = NewTable();
  for (int i = 0; i < kFunctions; ++i) {
    KpFunctionInfo& info = table.Add(names.emplace_back("f" + std::to_string(i)).c_str(), &TellContext);
    info.flags = KP_FUNCTION_TAKES_CONTEXT;
    info.context = &numbers.emplace_back(3 * i);
  }
  table.Add("plain", &TellInstance);
  table.module.create = &CreateInstance;
  const KpLoadedModule* module = nullptr;
  ASSERT_EQ(kp_module_adopt(table.Finish("contexts"), &module), 0) << TakeError();
  for (int i = 0; i < kFunctions; i += 7) ASSERT_EQ(Call(module, "f" + std::to_string(i)), 3 * i);
  EXPECT_EQ(Call(module, "f" + std::to_string(kFunctions - 1)), 3 * (kFunctions - 1));
  EXPECT_EQ(Call(module, "plain"), 1) << "a function without the flag gets the instance itself";
}

TEST(LoaderContext, AContextWithoutTheFlagIsRefused) {
  Table& table = NewTable();
  table.Add("lonely", &TellInstance).context = &g_instance_data;
  const KpLoadedModule* module = nullptr;
  EXPECT_EQ(kp_module_adopt(table.Finish("no_flag"), &module), -1);
  EXPECT_EQ(TakeError(),
            "ImportError: kernpack.load: '<embedded>': lonely has a context, which is never passed to it; set "
            "KP_FUNCTION_TAKES_CONTEXT in KpFunctionInfo.flags");
}

}  // namespace
}  // namespace loader_test
