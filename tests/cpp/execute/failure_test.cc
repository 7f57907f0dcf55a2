// Errors of runs that can't go on; such runs hold no resources.
#include "execute/support.h"

namespace execute_test {
namespace {

class ExecuteFailure : public ExecuteTest {
 protected:
  // "Kind: message" of what running says; "" when it says nothing.
  static std::string CatchError(const sp::Executable& run, const std::vector<AnyView>& inputs,
                                const sp::RunOptions& options = {}) {
    return Caught([&] { run.Run(inputs, options); });
  }
  static std::string Caught(const std::function<void()>& body) {
    try {
      body();
    } catch (const kernpack::Error& e) {
      return std::string(e.kind().data, e.kind().size) + ": " + e.what();
    }
    return "";
  }
  std::string ErrorOfMaking(const char* program, const std::vector<KpDLDevice>& devices = {}) {
    return Caught([&] { sp::Executable(NaivePlan(program), functions, devices); });
  }
};

constexpr const char* kThereAndBack = R"(program main(x: f32[N]) {
  a: f32[N] @fake:0 = copy x
  b: f32[N] @fake:0 = call t.scale(a)
  c: f32[N] @fake:1 = copy b
  d: f32[N] @fake:1 = call t.add(c, c)
  z: f32[N] = copy d
  return z, d
})";

TEST_F(ExecuteFailure, WrongArgumentsAreNamed) {
  const sp::Executable run(NaivePlan(R"(program main(x: f32[N, 2], y: f32[N], a: float, s: str) {
    return a
  })"),
                           functions);
  float data[8] = {};
  int64_t shape[] = {2, 2};
  KpDLTensor good{data, Device::cpu(), 2, kernpack::f32, shape, nullptr, 0};
  const auto with = [&](AnyView y, AnyView a, AnyView s) {
    KpAny x = kp_none();
    x.type_index = KP_TYPE_DLTENSOR_PTR;
    x.v.v_tensor = &good;
    return CatchError(run, {AnyView(x), y, a, s});
  };
  const Floats y({1, 2});
  EXPECT_EQ(with(y, 1, "s"), "");
  EXPECT_EQ(with(3, 1, "s"), "TypeError: main: y: expected f32[N] on cpu, got int");
  EXPECT_EQ(with(y, "a", "s"), "TypeError: main: a: expected float, got str");
  EXPECT_EQ(with(y, 1, 2), "TypeError: main: s: expected str, got int");
  EXPECT_EQ(with(Floats({1, 2, 3}), 1, "s"),
            "ValueError: main: y: expected f32[N] on cpu, got f32[3] on cpu, where N is 2");
  shape[1] = 3;
  EXPECT_EQ(with(y, 1, "s"), "ValueError: main: x: expected f32[N, 2] on cpu, got f32[2, 3] on cpu");
  shape[1] = 2;
  good.dtype = kernpack::i32;
  EXPECT_EQ(with(y, 1, "s"), "TypeError: main: x: expected f32[N, 2] on cpu, got i32[2, 2] on cpu");
  EXPECT_EQ(CatchError(run, {y}), "TypeError: main: expected 4 arguments, got 1");
}

TEST_F(ExecuteFailure, ATensorElsewhereThanPlannedIsRefused) {
  const sp::Executable run(NaivePlan("program main(x: f32[N] @fake:0) {\n return x\n}"), functions);
  EXPECT_EQ(CatchError(run, {Floats({1})}),
            "ValueError: main: x: expected f32[N] on fake:0, got f32[1] on cpu; copy it there first");
}

TEST_F(ExecuteFailure, DevicesThatAreNotGivenOrNotThereAreNamedWithWhoUsesThem) {
  const char* program = "program main(x: f32[N] @fake:1) {\n z: f32[N] @fake:1 = call t.scale(x)\n return z\n}";
  EXPECT_EQ(ErrorOfMaking(program, {FakeDevice::Number(0)}),
            "ValueError: the plan's fake:1, which a stream of it uses: expected at least 2 devices of type fake in "
            "devices, got 1");
  EXPECT_EQ(ErrorOfMaking(program, {FakeDevice::Number(0), FakeDevice::Number(7)}),
            "RuntimeError: the plan's fake:1, which a stream of it uses: there is no fake:7; this machine has 2 of "
            "that type");
  EXPECT_EQ(ErrorOfMaking("program main(x: f32[N] @maia:0) {\n return x\n}")
                .find("RuntimeError: the plan's maia:0, which main: x uses: there is no such device: "),
            0u);
}

TEST_F(ExecuteFailure, FunctionsThatAreNotThereOrDoNotRunThere) {
  EXPECT_EQ(ErrorOfMaking("program main(x: f32[N]) {\n z: f32[N] = call t.scalee(x)\n return z\n}")
                .find("ValueError: main: step 0 (call t.scalee): there is no function 't.scalee'"),
            0u);
  sp::Function picky = Made("t.picky", "(x: f32[N]) -> (z: f32[N])", {});
  picky.resolve = [](KpDLDevice device) -> sp::Callable {
    KP_THROW(RuntimeError) << "picky: not on " << Device(device);
  };
  functions.Add(picky);
  EXPECT_EQ(ErrorOfMaking("program main(x: f32[N]) {\n z: f32[N] = call t.picky(x)\n return z\n}"),
            "RuntimeError: main: step 0 (call t.picky): picky: not on cpu");
}

TEST_F(ExecuteFailure, ErrorsOfFunctionsKeepTheirKindAndNameTheStep) {
  const sp::Executable run(NaivePlan(R"(program inner(x: f32[N]) {
    z: f32[N] = call t.fail(x)
    return z
  }
  program main(x: f32[N]) {
    y: f32[N] = call t.scale(x)
    z: f32[N] = invoke inner(y)
    return z
  })"),
                           functions);
  EXPECT_EQ(CatchError(run, {Floats({1})}),
            "ArithmeticError: main: step 1 (invoke inner): inner: step 0 (call t.fail): fail: it always does");
  const sp::Executable silent(NaivePlan("program main(x: f32[N]) {\n z: f32[N] = call t.silent(x)\n return z\n}"),
                              functions);
  EXPECT_EQ(CatchError(silent, {Floats({1})}),
            "InternalError: main: step 0 (call t.silent): t.silent: returned -1 without an error");
}

TEST_F(ExecuteFailure, WhatAContractRefusesNamesTheStep) {
  const sp::Executable run(NaivePlan(R"(program main(x: f32[N], y: f32[M]) {
    z: f32[N] = call t.add(x, y)
    return z
  })"),
                           functions);
  EXPECT_EQ(CatchError(run, {Floats({1}), Floats({1, 2})}).find("ValueError: main: step 0 (call t.add): t.add: y: "),
            0u);
  EXPECT_EQ(GetValues(run.Run({Floats({1}), Floats({2})})[0])[0], 3) << "it runs after an error";
  EXPECT_NE(CatchError(run, {Floats({1}), Floats({1, 2})}), "") << "and looks again";
}

TEST_F(ExecuteFailure, OutOfMemoryInTheMiddleFreesEverything) {
  const Floats x({1, 2, 3});
  int failures = 0;
  for (int n = 1; n < 20; ++n) {
    const sp::Executable run(NaivePlan(kThereAndBack), functions);
    FakeDevice::The().FailAllocation(n);
    const std::string error = CatchError(run, {x});
    FakeDevice::The().FailAllocation(0);
    if (error.empty()) break;
    ++failures;
    EXPECT_EQ(error.find("MemoryError: main: step "), 0u) << error;
    EXPECT_NE(error.find("fake: out of memory for 12 bytes"), std::string::npos) << error;
    EXPECT_EQ(FakeDevice::The().bytes, 0) << "after allocation " << n;
    EXPECT_EQ(run.buffers().held, 0u);
    EXPECT_EQ(GetValues(run.Run({x})[0]), (std::vector<float>{4, 8, 12})) << "it runs again";
  }
  EXPECT_EQ(failures, 3) << "of a, b and c; for a tensor like d the host asks twice";
}

TEST_F(ExecuteFailure, ADeviceThatIsLostFailsTheRunAndFreesEverything) {
  const Floats x({1, 2, 3});
  const sp::Executable run(NaivePlan(kThereAndBack), functions);
  run.Run({x});
  EXPECT_GT(FakeDevice::The().bytes, 0) << "kept for the next run";
  FakeDevice::The().Lose(true);
  const std::string error = CatchError(run, {x});
  FakeDevice::The().Lose(false);
  EXPECT_NE(error.find("RuntimeError: main: "), std::string::npos) << error;
  EXPECT_NE(error.find("fake: the device is lost"), std::string::npos) << error;
  EXPECT_EQ(FakeDevice::The().bytes, 0);
  EXPECT_EQ(GetValues(run.Run({x})[0]), (std::vector<float>{4, 8, 12})) << "it is back";
}

TEST_F(ExecuteFailure, ACancelledRunEndsBeforeTheNextStep) {
  std::atomic<bool> cancel = false;
  functions.Add(Made("t.cancel", "(x: f32[N]) -> (z: f32[N])", [&](const KpAny*, int32_t, KpAny*) { cancel = true; }));
  const sp::Executable run(NaivePlan(R"(program main(x: f32[N]) {
    y: f32[N] = call t.cancel(x)
    z: f32[N] = call t.fail(y)
    return z
  })"),
                           functions);
  EXPECT_EQ(CatchError(run, {Floats({1})}, {.cancel = &cancel}),
            "InterruptedError: main: step 1 (call t.fail): cancelled before it");
}

TEST_F(ExecuteFailure, AnInterruptEndsTheRun) {
  static bool pressed = false;
  kp_set_interrupt_check([]() -> int { return pressed ? -1 : 0; });
  functions.Add(Made("t.press", "(x: f32[N]) -> (z: f32[N])", [](const KpAny*, int32_t, KpAny*) { pressed = true; }));
  const sp::Executable run(NaivePlan(R"(program main(x: f32[N]) {
    y: f32[N] = call t.press(x)
    z: f32[N] = call t.fail(y)
    return z
  })"),
                           functions);
  const std::string error = CatchError(run, {Floats({1})});
  kp_set_interrupt_check(nullptr);
  EXPECT_EQ(error, "KeyboardInterrupt: main: step 1 (call t.fail): interrupted");
}

}  // namespace
}  // namespace execute_test
