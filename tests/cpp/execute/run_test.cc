// Results of runs of plans.
#include "execute/support.h"

namespace execute_test {
namespace {

class ExecuteRun : public ExecuteTest {
 protected:
  std::vector<Any> Run(const char* program, const std::vector<AnyView>& inputs,
                       const std::vector<KpDLDevice>& devices = {}) {
    return sp::Executable(NaivePlan(program), functions, devices).Run(inputs);
  }
};

TEST_F(ExecuteRun, ThreeCallsAndTheCopiesBetweenTwoDevices) {
  const char* program = R"(program main(x: f32[N], y: f32[N]) {
    h: f32[N] = call t.add(x, y)
    there: f32[N] @fake:0 = copy h
    g: f32[N] @fake:0 = call t.scale(there)
    back: f32[N] = copy g
    z: f32[N] = call t.add(back, x)
    return z
  })";
  const Floats x({1, 2, 3});
  const Floats y({10, 20, 30});
  const std::vector<Any> results = Run(program, {x, y});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(GetValues(results[0]), (std::vector<float>{23, 46, 69}));
}

TEST_F(ExecuteRun, AnIntForAFloatIsAFloatForTheKernel) {
  const sp::Executable run(NaivePlan(R"(program main(x: f32[N], a: float) {
    two = const 2
    h: f32[N] = call t.scale(x, a)
    z: f32[N] = call t.scale(h, two)
    return z
  })"),
                           functions);
  for (const int64_t factor : {3, 3, 5}) {  // once more as before, which checks nothing, then another
    EXPECT_EQ(GetValues(run.Run({Floats({1, 2}), factor})[0]),
              (std::vector<float>{2.0f * static_cast<float>(factor), 4.0f * static_cast<float>(factor)}));
  }
  functions.Add(Made("t.sum_of", "(x: f32[N], by: list[float]) -> (z: f32[N])", [](const KpAny* a, int32_t, KpAny*) {
    const auto* list = reinterpret_cast<const KpSequenceObject*>(a[1].v.v_obj);
    double sum = 0;
    for (int64_t j = 0; j < list->size; ++j) sum += list->data[j].v.v_float;
    for (int64_t i = 0; i < GetSize(a[0]); ++i) GetData(a[2])[i] = GetData(a[0])[i] + static_cast<float>(sum);
  }));
  EXPECT_EQ(GetValues(Run(R"(program main(x: f32[N], a: int, b: float) {
    by = tuple(a, b)
    z: f32[N] = call t.sum_of(x, by)
    return z
  })",
                          {Floats({1, 2}), int64_t{3}, 0.5})[0]),
            (std::vector<float>{4.5, 5.5}));
}

TEST_F(ExecuteRun, OneExecutableRunsOnOtherValuesAndOtherShapes) {
  const sp::Executable run(NaivePlan(R"(program main(x: f32[N], a: float) {
    h: f32[N] = call t.scale(x, a)
    z: f32[N] = call t.add(h, x)
    return z
  })"),
                           functions);
  EXPECT_EQ(GetValues(run.Run({Floats({1, 2}), 3.0})[0]), (std::vector<float>{4, 8}));
  EXPECT_EQ(GetValues(run.Run({Floats({5, 6}), 3.0})[0]), (std::vector<float>{20, 24}));
  EXPECT_EQ(GetValues(run.Run({Floats({5, 6}), 1.0})[0]), (std::vector<float>{10, 12})) << "the scalar has changed";
  EXPECT_EQ(GetValues(run.Run({Floats({1, 2, 3}), 1.0})[0]), (std::vector<float>{2, 4, 6})) << "the shape has";
  EXPECT_TRUE(GetValues(run.Run({Floats({}), 1.0})[0]).empty());
}

TEST_F(ExecuteRun, DefaultsNumbersListsTuplesAndWorkspaces) {
  const char* program = R"(program main(x: f32[N]) {
    by = const 0.5
    a: f32[N] = call t.scale(x)
    b: f32[N] = call t.offset(a, by)
    p: f32[N], q: f32[N] = call t.pair(b)
    list = tuple(p, q, x)
    s: f32[N] = call t.sum_all(list)
    second = get list[1]
    w: f32[N] = call t.spread(second)
    z: f32[N] = call t.add(s, w)
    extents = shape z
    return z, extents, by
  })";
  const sp::Executable run(NaivePlan(program), functions);
  for (int round = 0; round < 2; ++round) {
    const std::vector<Any> results = run.Run({Floats({1, 2})});
    // a = 2x, b = a + 0.5, s = 2b + x, w = 3 (b - 1)
    EXPECT_EQ(GetValues(results[0]), (std::vector<float>{6 + 4.5f, 11 + 10.5f}));
    EXPECT_EQ(results[1].cast<kernpack::ShapeView>(), kernpack::ShapeView({2}));
    EXPECT_EQ(results[2].cast<double>(), 0.5);
  }
}

TEST_F(ExecuteRun, AListIsWrittenInPlaceBetweenReadsOfItsItems) {
  functions.Add(Made("t.bump_all", "(xs!: list[f32[_]]) -> ()", [](const KpAny* a, int32_t, KpAny*) {
    const auto* list = reinterpret_cast<const KpSequenceObject*>(a[0].v.v_obj);
    for (int64_t j = 0; j < list->size; ++j) {
      for (int64_t i = 0; i < GetSize(list->data[j]); ++i) GetData(list->data[j])[i] += 100;
    }
  }));
  const sp::Executable run(NaivePlan(R"(program main(x: f32[N], y: f32[N]) {
    before: f32[N] = call t.add(x, y)
    h: f32[N] = call t.scale(x)
    list = tuple(h, y)
    call t.bump_all(list)
    after: f32[N] = call t.add(h, y)
    return before, after
  })"),
                           functions);
  for (int round = 0; round < 2; ++round) {
    const Floats x({1, 2}), y({10, 20});
    const std::vector<Any> results = run.Run({x, y});
    EXPECT_EQ(GetValues(results[0]), (std::vector<float>{11, 22}));
    EXPECT_EQ(GetValues(results[1]), (std::vector<float>{212, 224}));
  }
  const Floats x({1, 2});
  try {
    (void)Run("program main(x: f32[N]) {\n list = tuple(x, x)\n call t.bump_all(list)\n return x\n}", {x});
    ADD_FAILURE() << "a tensor that is written twice was taken";
  } catch (const kernpack::Error& e) {
    const std::string message = e.what();
    EXPECT_NE(message.find("expected memory of its own to write to, got a tensor that overlaps xs["), std::string::npos)
        << message;
  }
}

TEST_F(ExecuteRun, ResultsAreNewAndParametersThemselves) {
  const sp::Executable run(NaivePlan(R"(program main(x: f32[N]) {
    z: f32[N] = call t.scale(x)
    return z, x, z
  })"),
                           functions);
  const Floats x({1, 2});
  const std::vector<Any> first = run.Run({x});
  const std::vector<Any> second = run.Run({x});
  EXPECT_NE(GetData(first[0].raw()), GetData(second[0].raw()));
  EXPECT_EQ(GetData(first[0].raw()), GetData(first[2].raw())) << "one value";
  EXPECT_EQ(GetData(first[1].raw()), x.tensor()->data);
}

TEST_F(ExecuteRun, ParametersThatAreBorrowedAndReturnedAreCopied) {
  const sp::Executable run(NaivePlan("program main(x: f32[N]) {\n return x\n}"), functions);
  const Floats x({1, 2});
  KpAny borrowed = kp_none();
  borrowed.type_index = KP_TYPE_DLTENSOR_PTR;
  borrowed.v.v_tensor = const_cast<KpDLTensor*>(x.tensor());
  const std::vector<Any> results = run.Run({AnyView(borrowed)});
  EXPECT_NE(GetData(results[0].raw()), x.tensor()->data);
  EXPECT_EQ(GetValues(results[0]), (std::vector<float>{1, 2}));
}

TEST_F(ExecuteRun, BranchesAndSubPrograms) {
  const sp::Executable run(NaivePlan(R"(program double(x: f32[N]) {
    z: f32[N] = call t.scale(x)
    return z
  }
  program same(x: f32[N]) {
    return x
  }
  program main(x: f32[N], c: bool) {
    y: f32[N] = call t.add(x, x)
    b: f32[N] = if c then double else same(y)
    z: f32[N] = invoke double(b)
    return z, b
  })"),
                           functions);
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(GetValues(run.Run({Floats({1, 2}), true})[0]), (std::vector<float>{8, 16}));
    const std::vector<Any> results = run.Run({Floats({1, 2}), false});
    EXPECT_EQ(GetValues(results[0]), (std::vector<float>{4, 8}));
    EXPECT_EQ(GetValues(results[1]), (std::vector<float>{2, 4}));
  }
}

TEST_F(ExecuteRun, AConditionMayBeATensorOfTheHost) {
  const sp::Executable run(NaivePlan(R"(program double(x: f32[N]) {
    z: f32[N] = call t.scale(x)
    return z
  }
  program same(x: f32[N]) {
    return x
  }
  program main(x: f32[N], c: bool[]) {
    z: f32[N] = if c then double else same(x)
    return z
  })"),
                           functions);
  for (const bool condition : {true, false}) {
    bool data = condition;
    KpDLTensor tensor{&data, Device::cpu(), 0, {KP_DTYPE_BOOL, 8, 1}, nullptr, nullptr, 0};
    KpAny value = kp_none();
    value.type_index = KP_TYPE_DLTENSOR_PTR;
    value.v.v_tensor = &tensor;
    EXPECT_EQ(GetValues(run.Run({Floats({1}), AnyView(value)})[0])[0], condition ? 2 : 1);
  }
}

TEST_F(ExecuteRun, FunctionsWithoutASignatureGiveWhatTheyMake) {
  const sp::Executable run(NaivePlan(R"(program main(x: f32[N]) {
    h = call t.untyped_twice(x)
    z: f32[N] = call t.add(h, x)
    return z, h
  })"),
                           functions);
  for (const int64_t n : {2, 3, 3}) {
    const std::vector<Any> results = run.Run({Floats(Counting(n))});
    EXPECT_EQ(GetValues(results[0])[1], 6);
    EXPECT_EQ(GetValues(results[1])[1], 4);
  }
}

TEST_F(ExecuteRun, ArgumentsThatAreWrittenToAreTheCallersOwn) {
  const sp::Executable run(NaivePlan(R"(program main(x: f32[N], y: f32[N]) {
    call t.bump(x)
    z: f32[N] = call t.add(x, y)
    return z
  })"),
                           functions);
  const Floats x({1, 2});
  EXPECT_EQ(GetValues(run.Run({x, Floats({1, 1})})[0]), (std::vector<float>{3, 4}));
  EXPECT_EQ(GetValues(x), (std::vector<float>{2, 3}));
}

TEST_F(ExecuteRun, AnArgumentThatIsWrittenSharesMemoryWithNoOther) {
  const sp::Executable run(NaivePlan(R"(program main(x: f32[N], y: f32[N]) {
    call t.bump(x)
    z: f32[N] = call t.scale(y)
    return z
  })"),
                           functions);
  const Floats x({1, 2});
  const Floats y({1, 1});
  const char* message = "main: x: expected memory of its own to write to, got a tensor that overlaps y: pass a copy";
  EXPECT_ERROR(run.Run({x, x}), "ValueError", message);
  EXPECT_EQ(GetValues(x), (std::vector<float>{1, 2})) << "nothing ran";
  EXPECT_EQ(GetValues(run.Run({x, y})[0]), (std::vector<float>{2, 2}));
  EXPECT_ERROR(run.Run({x, x}), "ValueError", message);  // all but the address is like the last time
  const KpAny args[] = {AnyView(x).raw(), AnyView(x).raw(), AnyView(y).raw()};
  EXPECT_ERROR(run.RunInto(args, 3), "ValueError", message);
}

TEST_F(ExecuteRun, VirtualDevicesAreTheGivenOnesInOrder) {
  const sp::Plan plan = NaivePlan(R"(program main(x: f32[N] @fake:1) {
    z: f32[N] @fake:1 = call t.scale(x)
    return z
  })");
  const auto place = [](const std::vector<Any>& results) { return kp_any_tensor(&results[0].raw())->device.device_id; };
  const Device one = FakeDevice::Number(1);
  const Device zero = FakeDevice::Number(0);
  EXPECT_EQ(place(sp::Executable(plan, functions).Run({Floats({1}, one)})), 1);
  EXPECT_EQ(place(sp::Executable(plan, functions, {one, Device::cpu(), zero}).Run({Floats({1}, zero)})), 0);
  EXPECT_EQ(place(sp::Executable(plan, functions, {one, one}).Run({Floats({1}, one)})), 1) << "one for two";
}

TEST_F(ExecuteRun, ResultsGoWhereTheCallerWantsThem) {
  const sp::Executable run(NaivePlan(R"(program main(x: f32[N]) {
    z: f32[N] = call t.scale(x)
    return z, x, z
  })"),
                           functions);
  const Floats x({1, 2});
  const Floats z({0, 0});
  const Floats same({0, 0});
  const Floats again({0, 0});
  const KpAny args[] = {AnyView(x).raw(), AnyView(z).raw(), AnyView(same).raw(), AnyView(again).raw()};
  run.RunInto(args, 4);
  EXPECT_EQ(GetValues(z), (std::vector<float>{2, 4}));
  EXPECT_EQ(GetValues(same), (std::vector<float>{1, 2}));
  EXPECT_EQ(GetValues(again), (std::vector<float>{2, 4}));
  const Floats small({0});
  const KpAny wrong[] = {AnyView(x).raw(), AnyView(small).raw(), AnyView(same).raw(), AnyView(again).raw()};
  EXPECT_ERROR(run.RunInto(wrong, 4), "ValueError", "to write f32[2] on cpu to, got f32[1] on cpu");
  EXPECT_ERROR(run.RunInto(args, 3), "TypeError", "expected 1 arguments and 3 tensors for results, got 3");
}

TEST_F(ExecuteRun, OneOfSeveralProgramsIsChosenByName) {
  const sp::Plan plan = NaivePlan("program first(a: int) {\n return a\n}\nprogram last(a: float) {\n return a\n}");
  EXPECT_EQ(sp::Executable(plan, functions).program().name, "last");
  EXPECT_EQ(sp::Executable(plan, functions, {}, "first").Run({7})[0].cast<int>(), 7);
  EXPECT_ERROR(sp::Executable(plan, functions, {}, "none"), "ValueError", "no program 'none'");
}

}  // namespace
}  // namespace execute_test
