// Placements that contradict each other, and programs that the planner refuses, by name and place.
#include <kernpack/error.h>

#include <gtest/gtest.h>

#include "plan/support.h"

namespace kernpack::sdk::program {
namespace {

struct Bad {
  const char* name;
  const char* program;
  std::vector<const char*> said;
};
void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.name; }

class BadPlacement : public testing::TestWithParam<Bad> {};

TEST_P(BadPlacement, NamesBothSidesAndWhatToDo) {
  try {
    FAIL() << Short(BuildPlan(GetParam().program).module);
  } catch (const Error& e) {
    for (const char* part : GetParam().said) EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadPlacement,
    testing::Values(
        Bad{"FunctionsOfTwoDevices",
            "program main(a: f32[5]) {\n  x = call m.on_cpu(a)\n  y = call m.on_cuda(x)\n  return y\n}",
            {"line 3, column 3: program main: 'x' as used by call m.on_cuda cannot be both on cpu, as call m.on_cpu "
             "(line 2, column 3) requires, and on cuda, as call m.on_cuda (line 3, column 3) requires",
             "annotate the value"}},
        Bad{"AnAnnotationThatTheFunctionCannotFollow",
            "program main(a: f32[5]) {\n  x @cuda = call m.on_cpu(a)\n  return x\n}",
            {"line 2, column 3", "on cpu, as call m.on_cpu (line 2, column 3) requires",
             "on cuda, as the annotation of 'x' "}},
        Bad{"TwoResultsOfOneCall",
            "program main(a: f32[5]) {\n  x @cpu, y @cuda = call m.split(a)\n  return x, y\n}",
            {"line 2, column 3", "the annotation of 'x' (line 2, column 3)",
             "the annotation of 'y' (line 2, column 11)"}},
        Bad{"AShapeOnADevice",
            "program main(a: f32[5]) {\n  s @cuda = shape a\n  return s\n}",
            {"line 2, column 3", "the annotation of 's'", "'s', which is of the host"}},
        Bad{"BranchesThatReturnInTwoPlaces",
            "program main(a: f32[5], c: bool) {\n  x = if c then l else r(a)\n  return x\n}\n"
            "program l(p: f32[N]) {\n  q = call m.negate(p)\n  return q @cpu\n}\n"
            "program r(p: f32[N]) {\n  q = call m.negate(p)\n  return q @cuda\n}",
            {"line 2, column 3", "the annotation of result 0 (line 7, column 10)",
             "the annotation of result 0 (line 11, "}},
        Bad{"WhatIsWrittenElsewhere",
            "program main(a: f32[5] @cpu, x: f32[5]) {\n  invoke write(a, x)\n  return a\n}\n"
            "program write(p: f32[N] @cuda, x: f32[N]) {\n  call m.append(p, x)\n  return\n}",
            {"line 2, column 3", "the annotation of 'a' (line 1, column 14)",
             "the annotation of 'p' (line 5, column 15)"}},
        Bad{"ADeviceWithoutATarget",
            "program main(a: f32[5] @opencl) {\n  return a\n}",
            {"line 1, column 14", "the annotation of 'a'", "opencl"}}),
    [](const auto& info) { return info.param.name; });

TEST(Placement, OfAFunctionForWhichThereIsNoTargetIsAnError) {
  FunctionTable table = TestFunctions();
  Function f;
  f.name = "m.on_opencl";
  f.signature = "(x: f32[N]) -> (out: f32[N])";
  f.device_types = {KP_DEVICE_OPENCL};
  table.Add(f);
  CompilationConfig config = TestConfig();
  const ProgramModule m = Parse("program main(a: f32[5]) {\n  x = call m.on_opencl(a)\n  return x\n}");
  try {
    MakePlan(m, {&config, &table, {}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "line 2, column 3: program main: call m.on_opencl: runs on opencl only, for which the "
                 "compilation has no target; add one");
  }
}

TEST(Placement, WithoutATargetForTheCpuUsesTheHosts) {
  const FunctionTable table = TestFunctions();
  CompilationConfig config({Target(Target("opencl"), Target("llvm"))});
  const ProgramModule m = Parse("program main(a: f32[5] @cpu) {\n  x = call m.negate(a)\n  return x @cpu\n}");
  EXPECT_EQ(Short(MakePlan(m, {&config, &table, {}}).module),
            "program main(a @cpu) {\n  x @cpu = call m.negate(a)\n  return x @cpu\n}\n");
}

TEST(ElideCopies, LeavesOutWhatTheTableSaysCodeCanReach) {
  const char* text = R"(program main(a: f32[5] @cuda:1, b: f32[5] @cuda:1, c: f32[5] @cuda:1) {
  x @cuda:0 = call m.negate(a)
  y @cuda:0 = copy b
  z @cuda:0 = copy c
  w @cuda:0 = call m.add(y, z)
  return x, y, w
}
)";
  PlanOptions options;
  options.access.push_back({KP_DEVICE_CUDA, "", KP_DEVICE_CUDA, /*same_id=*/false});
  // Results for the caller stay on the promised device.
  EXPECT_EQ(Short(BuildPlan(text, options).module), R"(program main(a @cuda:1, b @cuda:1, c @cuda:1) {
  x @cuda = call m.negate(a)
  y @cuda = copy b
  w @cuda = call m.add(y, c)
  return x, y, w
}
)");
  options.access[0].same_id = true;
  EXPECT_EQ(BuildPlan(text, options).module.programs[0].steps.size(), 5U);
}

TEST(PlanPlace, RefusesElementsThatNoTupleHas) {
  const auto message = [](const std::string& get) -> std::string {
    try {
      BuildPlan("program main(a, n: int) {\n  pair = tuple(a, a)\n  first = get " + get + "\n  return first\n}\n");
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_NE(message("pair[2]").find("get 'pair': element 2 of 2: elements count from 0"), std::string::npos)
      << message("pair[2]");
  EXPECT_NE(message("n[0]").find("get 'n': expected a tuple, got int"), std::string::npos) << message("n[0]");
}

TEST(PlanPlace, RefusesToWriteATensorThatHasTwoNames) {
  const auto plan = [](const std::string& steps) {
    return BuildPlan("program main(a, x) {\n" + steps + "  return y\n}\nprogram same(p) {\n  return p\n}\n");
  };
  for (const char* written : {"a", "y"}) {
    try {
      plan("  y = invoke same(a)\n  call m.append(" + std::string(written) + ", x)\n");
      ADD_FAILURE() << "no error for " << written;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("line 3, column 3: program main: call m.append writes '" +
                                           std::string(written) + "' in place, which has an alias"),
                std::string::npos)
          << e.what();
    }
  }
  EXPECT_NO_THROW(plan("  call m.append(a, x)\n  y = invoke same(a)\n"));
  EXPECT_NO_THROW(plan("  b @cuda = copy a\n  y = invoke same(b)\n  call m.append(a, x)\n"));
}

}  // namespace
}  // namespace kernpack::sdk::program
