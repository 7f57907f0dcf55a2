// Programs in shared objects of their own.
#include <kernpack/sdk/program/as_module.h>
#include <kernpack/sdk/program/module_functions.h>

#include <cstdio>
#include <filesystem>

#include "execute/support.h"

namespace execute_test {
namespace {

class ExecuteExport : public ExecuteTest {
 protected:
  // The functions of t.*, as the module "leaf" has them: here programs of one call, in a library any others.
  void SetUp() override {
    ExecuteTest::SetUp();
    static const KpLoadedModule* leaf = nullptr;
    if (!leaf) {
      const auto make = [&](const char* text) {
        return std::make_shared<sp::Executable>(BuildPlan(text, functions), functions);
      };
      const KpModule* table =
          sp::AsModule("leaf", {make("program add(x: f32[N], y: f32[N]) {\n z = call t.add(x, y)\n return z\n}"),
                                make("program scale(x: f32[N], a: float) {\n z = call t.scale(x, a)\n return z\n}"),
                                make("program pair(x: f32[N]) {\n a, b = call t.pair(x)\n return a, b\n}"),
                                make("program fail(x: f32[N]) {\n z = call t.fail(x)\n return z\n}")});
      ASSERT_EQ(kp_module_adopt(table, &leaf), 0) << TakeError();
    }
    sp::AddModule(&functions, leaf);
  }

  const KpLoadedModule* Exported(const char* text, const std::string& name) {
    const std::string path =
        std::filesystem::temp_directory_path() / ("kernpack_" + name + std::to_string(getpid()) + ".so");
    sp::Executable(BuildPlan(text, functions), functions).Export(name, "1.2.0", path);
    const char* file = path.c_str();
    const KpLoadedModule* module = nullptr;
    EXPECT_EQ(kp_module_load(&file, 1, 0, &module), 0) << TakeError();
    std::filesystem::remove(path);
    return module;
  }
};

TEST_F(ExecuteExport, ALibraryGivesWhatTheProgramGives) {
  const KpLoadedModule* module = Exported(R"(program twice(x: f32[N], k: float) {
    z = call leaf.scale(x, k)
    return z
  }
  program same(x: f32[N], k: float) {
    return x
  }
  program main(x: f32[N], c: bool, k: float) {
    p, q = call leaf.pair(x)
    y = call leaf.add(p, q)
    b = if c then twice else same(y, k)
    half = const 0.5
    h = invoke twice(b, half)
    z = call leaf.add(h, x)
    return z, h, x
  })",
                                          "exported");
  ASSERT_NE(module, nullptr);
  EXPECT_STREQ(kp_module_version(module), "1.2.0");
  const KpLoadedFunction* function = kp_module_function(module, kp_bytes("main"));
  ASSERT_NE(function, nullptr) << TakeError();
  EXPECT_STREQ(kp_signature_text(function->signature),
               "(x: f32[N], c: bool, k: float) -> (z: f32[N], h: f32[N], x_: f32[N])");
  const Floats x({1, 2});
  for (const bool condition : {true, false}) {
    const KpAny args[] = {AnyView(x).raw(), AnyView(condition).raw(), AnyView(3.0).raw()};
    Any results;
    ASSERT_EQ(kp_call(function, args, 3, results.out()), 0) << TakeError();
    const auto* list = reinterpret_cast<const KpSequenceObject*>(results.raw().v.v_obj);
    const float factor = condition ? 3 : 1;
    EXPECT_EQ(GetValues(AnyView(list->data[0])), (std::vector<float>{factor + 1, 2 * factor + 2}));
    EXPECT_EQ(GetValues(AnyView(list->data[1])), (std::vector<float>{factor, 2 * factor}));
    EXPECT_EQ(GetValues(AnyView(list->data[2])), (std::vector<float>{1, 2}));
  }
}

TEST_F(ExecuteExport, ErrorsNameTheStepAndEverythingIsFreed) {
  const KpLoadedModule* module = Exported(R"(program main(x: f32[N]) {
    y = call leaf.add(x, x)
    z = call leaf.fail(y)
    return z
  })",
                                          "failing");
  ASSERT_NE(module, nullptr);
  const Floats x({1, 2});
  const KpAny arg = AnyView(x).raw();
  Any nothing;
  EXPECT_EQ(kp_call(kp_module_function(module, kp_bytes("main")), &arg, 1, nothing.out()), -1);
  EXPECT_EQ(TakeError(),
            "ArithmeticError: main: step 1 (call leaf.fail): fail: step 0 (call t.fail): fail: it always does");
}

TEST_F(ExecuteExport, NamesOfProgramsAndValuesAreNoCode) {
  const KpLoadedModule* module = Exported(R"(program "odd \x0a*/ name"(x: f32[N]) {
    z = call leaf.add(x, x)
    return z
  }
  program main(x: f32[N]) {
    z = invoke "odd \x0a*/ name"(x)
    return z
  })",
                                          "odd_names");
  ASSERT_NE(module, nullptr);
  const Floats x({1, 2});
  const KpAny arg = AnyView(x).raw();
  Any result;
  ASSERT_EQ(kp_call(kp_module_function(module, kp_bytes("main")), &arg, 1, result.out()), 0) << TakeError();
  EXPECT_EQ(GetValues(result), (std::vector<float>{2, 4}));
}

TEST_F(ExecuteExport, WhatCannotBeExportedSaysWhy) {
  const auto refused = [&](const char* text, const char* name = "m") {
    try {
      sp::Executable(BuildPlan(text, functions), functions).Source(name, "1");
    } catch (const kernpack::Error& e) {
      return std::string(e.kind().data, e.kind().size) + ": " + e.what();
    }
    return std::string();
  };
  EXPECT_EQ(refused("program main(x: f32[N]) {\n z = call t.scale(x)\n return z\n}"),
            "ValueError: main: step 0 (call t.scale): the function belongs to no loaded module, so another process "
            "couldn't find it");
  EXPECT_EQ(
      refused("program main(x: f32[N] @cpu) {\n y @fake:0 = call t.scale(x)\n return y\n}"),
      "NotImplementedError: main: step 0 (copy): the plan moves values between devices; a program on one device can "
      "be exported");
  EXPECT_EQ(refused("program \"M n\"(x: f32[N]) {\n z = call leaf.fail(x)\n return z\n}"),
            "ValueError: module 'm': expected a program named in lower case, [a-z_][a-z0-9_]*, got 'M n'");
  EXPECT_EQ(refused("program main(x: f32[N]) {\n z = call leaf.fail(x)\n return z\n}", "\"\n#error"),
            "ValueError: module '\"\n#error': expected a name like [A-Za-z_][A-Za-z0-9_.]*");
}

}  // namespace
}  // namespace execute_test
