// Programs called as functions of a module.
#include <kernpack/sdk/program/as_module.h>
#include <kernpack/sdk/program/module_functions.h>

#include "execute/support.h"

namespace execute_test {
namespace {

class ExecuteAsModule : public ExecuteTest {
 protected:
  std::shared_ptr<const sp::Executable> Make(const char* text) {
    return std::make_shared<sp::Executable>(BuildPlan(text, functions), functions);
  }
};

constexpr const char* kTwoDevices = R"(program there_and_back(X: f32[n, 2], y: f32[m] @cpu, A: float) {
  h: f32[m] @fake:0 = call t.scale(y, A)
  z @cpu = call t.add(h, y)
  return z
})";

TEST_F(ExecuteAsModule, TheContractFollowsFromThePlan) {
  EXPECT_EQ(Make(kTwoDevices)->Signature(), "(x: f32[N, 2], y: f32[M], a: float) -> (z: f32[M])");
  EXPECT_EQ(Make("program f(x: f32[N]) {\n call t.bump(x)\n y = call t.scale(x)\n return y\n}")->Signature(),
            "(x!: f32[N]) -> (y: f32[N])");
  EXPECT_EQ(Make("program f(x: f32[N] @fake:0, k: f32[N] @cpu) {\n y = call t.scale(x)\n return y, y\n}")->Signature(),
            "(x: f32[N], k: f32[N] @cpu) -> (y: f32[N], y_: f32[N])");
  EXPECT_ERROR(Make("program f(a: int) {\n return a\n}")->Signature(), "ValueError",
               "f: a: expected a tensor, got int; a function gives tensors");
  EXPECT_ERROR(Make("program f(x: f32[...]) {\n return x\n}")->Signature(), "ValueError",
               "must say its dtype and rank");
  EXPECT_ERROR(Make("program f(x: f32[N] @fake:0, y: f32[N] @fake:1) {\n return x, y\n}")->Signature(), "ValueError",
               "f: y: it is on fake:1 and others are on fake:0");
}

TEST_F(ExecuteAsModule, ItIsCalledLikeEveryOtherFunction) {
  const auto run = Make(R"(program triple(x: f32[n], a: float) {
    h = call t.scale(x, a)
    z = call t.add(h, x)
    return z
  })");
  const KpLoadedModule* module = nullptr;
  const KpModule* table = sp::AsModule("programs", {run});
  ASSERT_EQ(kp_module_adopt(table, &module), 0) << TakeError();
  const KpLoadedFunction* function = kp_module_function(module, kp_bytes("triple"));
  ASSERT_NE(function, nullptr) << TakeError();
  for (int round = 0; round < 2; ++round) {
    const Floats x({1, 2, 3});
    const KpAny args[] = {AnyView(x).raw(), AnyView(2.0).raw()};
    Any result;
    ASSERT_EQ(kp_call(function, args, 2, result.out()), 0) << TakeError();
    EXPECT_EQ(GetValues(result), (std::vector<float>{3, 6, 9}));
    const KpAny wrong[] = {AnyView(2.0).raw(), AnyView(2.0).raw()};
    Any nothing;
    EXPECT_EQ(kp_call(function, wrong, 2, nothing.out()), -1);
    EXPECT_EQ(TakeError(), "TypeError: triple: x: expected a tensor of shape [N], got float");
  }
  EXPECT_ERROR(sp::AsModule("programs", {run, run}), "ValueError", "two programs are named 'triple'");
}

TEST_F(ExecuteAsModule, AProcessMakesAsManyAsItLikes) {
  const auto run = Make("program triple(x: f32[n]) {\n z = call t.scale(x)\n return z\n}");
  for (int i = 0; i < 2000; ++i) ASSERT_NE(sp::AsModule("many" + std::to_string(i), {run}), nullptr);
  const KpLoadedModule* module = nullptr;
  ASSERT_EQ(kp_module_adopt(sp::AsModule("last", {run}), &module), 0);
  EXPECT_NE(kp_module_function(module, kp_bytes("triple")), nullptr);
}

TEST_F(ExecuteAsModule, ItMayBeCalledByAnotherProgram) {
  const KpLoadedModule* module = nullptr;
  ASSERT_EQ(kp_module_adopt(sp::AsModule("inner", {Make(R"(program quadruple(x: f32[N]) {
    h = call t.scale(x)
    z = call t.scale(h)
    return z
  })")}),
                            &module),
            0)
      << TakeError();
  sp::AddModule(&functions, module);
  EXPECT_EQ(functions.Find("inner.quadruple")->signature, "(x: f32[N]) -> (z: f32[N])");
  const auto outer =
      Make("program main(x: f32[N]) {\n y = call inner.quadruple(x)\n z = call t.add(x, y)\n return z\n}");
  EXPECT_EQ(GetValues(outer->Run({Floats({1, 2})})[0]), (std::vector<float>{5, 10}));
}

}  // namespace
}  // namespace execute_test
