// Programs that the verifier refuses, and its errors; the types that it infers.
#include <kernpack/error.h>
#include <kernpack/sdk/program/builder.h>

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/support.h"

namespace kernpack::sdk::program {
namespace {

std::string FindProblem(const ProgramModule& module) {
  static const FunctionTable& functions = *new FunctionTable(TestFunctions());
  try {
    Verify(module, functions);
    return "";
  } catch (const Error& e) {
    return std::string(e.kind().data, e.kind().size) + ": " + e.what();
  }
}

struct BadRule {
  const char* name;
  const char* text;
  const char* error;
  const char* kind = "ValueError";
};
void PrintTo(const BadRule& bad, std::ostream* out) { *out << bad.name; }

class BadProgram : public testing::TestWithParam<BadRule> {};

TEST_P(BadProgram, IsRefusedWithTheReason) {
  EXPECT_EQ(FindProblem(Parse(GetParam().text)), std::string(GetParam().kind) + ": " + GetParam().error);
}

#define MAIN(params, step) "program main(" params ") {\n  " step "\n  return\n}\n"

INSTANTIATE_TEST_SUITE_P(
    All, BadProgram,
    testing::Values(
        BadRule{"UnknownFunction", MAIN("x: f32[5]", "y = call m.negat(x)"),
                "line 2, column 3: program main: call m.negat: there is no function of that name; did you mean "
                "'m.negate'?"},
        BadRule{
            "FunctionOfNoModule", MAIN("x: f32[5]", "y = call other.thing(x)"),
            "line 2, column 3: program main: call other.thing: there is no function of that name: load its module, or "
            "add it "
            "to the table"},
        BadRule{"TextWithANul", MAIN("x: f32[5]", "y = const \"a\\x00b\""),
                "line 2, column 3: program main: const: a string with a NUL character, where functions would stop "
                "reading"},
        BadRule{"TooFewArguments", MAIN("x: f32[5]", "y = call m.add(x)"),
                "line 2, column 3: program main: call m.add: expected at least 2 arguments (b has no default), got 1",
                "TypeError"},
        BadRule{"TooManyArguments", MAIN("x: f32[5]", "y = call m.negate(x, x)"),
                "line 2, column 3: program main: call m.negate: expected at most 1 arguments (x), got 2", "TypeError"},
        BadRule{"TooManyResults", MAIN("x: f32[5]", "y, z = call m.negate(x)"),
                "line 2, column 3: program main: call m.negate: expected 1 result, got 2"},
        BadRule{"WrongDType", MAIN("x: i32[5]", "y = call m.negate(x)"),
                "line 2, column 3: program main: call m.negate: x: expected dtype f32, got i32", "TypeError"},
        BadRule{"WrongRank", MAIN("x: f32[5, 2]", "y = call m.negate(x)"),
                "line 2, column 3: program main: call m.negate: x: expected shape [N] (1 dim), got [5, 2] (2 dims)"},
        BadRule{"ExtentsThatDiffer", MAIN("x: f32[5], y: f32[6]", "z = call m.add(x, y)"),
                "line 2, column 3: program main: call m.add: b: expected shape [N] with N = 5 (bound by a), got [6]"},
        BadRule{"AScalarForATensor", MAIN("x: int", "y = call m.negate(x)"),
                "line 2, column 3: program main: call m.negate: x: expected a tensor of shape [N], got int",
                "TypeError"},
        BadRule{"ATensorForAScalar", MAIN("x: f32[5]", "y = call m.scale(x, x)"),
                "line 2, column 3: program main: call m.scale: k: expected float, got Tensor", "TypeError"},
        BadRule{"NoListForAList", MAIN("x: f32[5], n: int", "y = call m.concat(x, n)"),
                "line 2, column 3: program main: call m.concat: xs: expected a list, got Tensor: put it in brackets",
                "TypeError"},
        BadRule{
            "AWrongElement",
            "program main(x: f32[5], y: i32[5], n: int) {\n  t = tuple(x, y)\n  z = call m.concat(t, n)\n  return\n}",
            "line 3, column 3: program main: call m.concat: xs[1]: expected dtype f32, got i32", "TypeError"},
        BadRule{"ADeclarationThatIsWrong", MAIN("x: f32[5]", "y: f32[6] = call m.negate(x)"),
                "line 2, column 3: program main: call m.negate: 'y' is declared f32[6], but it is f32[5]"},
        BadRule{"AnElementThatIsNot", "program main(x: int) {\n  t = tuple(x)\n  y = get t[1]\n  return\n}",
                "line 3, column 3: program main: get 't': element 1 of 1: elements count from 0"},
        BadRule{"AnElementOfNoTuple", MAIN("x: int", "y = get x[0]"),
                "line 2, column 3: program main: get 'x': expected a tuple, got int"},
        BadRule{"ATupleParameter", MAIN("t: tuple[int]", "y = get t[0]"),
                "line 1, column 14: program main: parameter 't': tuples can't be passed between programs; pass its "
                "elements"},
        BadRule{"ATupleInATuple", "program main(x: int) {\n  t = tuple(x)\n  u = tuple(t)\n  return\n}",
                "line 3, column 3: program main: tuple 't': a tuple in a tuple: its elements are tensors and scalars"},
        BadRule{"ACopyToNowhere", MAIN("x: f32[5]", "y = copy x"),
                "line 2, column 3: program main: copy 'x': doesn't say where to: give its result a device"},
        BadRule{"ACopyOfAScalar", MAIN("x: int", "y @cpu = copy x"),
                "line 2, column 3: program main: copy 'x': expected a tensor, got int"},
        BadRule{"TheShapeOfAScalar", MAIN("x: int", "y = shape x"),
                "line 2, column 3: program main: shape 'x': expected a tensor, got int"},
        BadRule{"UnknownProgram", MAIN("x: int", "y = invoke mian(x)"),
                "line 2, column 3: program main: invoke mian: there is no program 'mian' in the module; did you mean "
                "'main'?"},
        BadRule{"AProgramThatInvokesItself",
                "program main(x: int) {\n  y = invoke other(x)\n  return y\n}\nprogram other(x: int) {\n  y = invoke "
                "main(x)\n  return y\n}",
                "line 6, column 3: program other: programs cannot invoke themselves: main -> other -> main; write the "
                "steps out"},
        BadRule{"TooFewArgumentsOfAProgram", MAIN("x: int", "invoke other()") "program other(x: int) { return }",
                "line 2, column 3: program main: invoke other: expected 1 argument, got 0"},
        BadRule{"AnArgumentOfAnotherType", MAIN("x: f32[5]", "invoke other(x)") "program other(p: f32[6]) { return }",
                "line 2, column 3: program main: invoke other: 'p' of other: expected f32[6], got f32[5]"},
        BadRule{"AConditionThatIsNone", MAIN("x: f32[5]", "if x then other else other()") "program other() { return }",
                "line 2, column 3: program main: if other, other: expected a bool or bool[] as condition, got f32[5]"},
        BadRule{
            "BranchesOfOtherNumbers",
            MAIN("c: bool, x: int",
                 "y = if c then one else none(x)") "program one(x: int) { return x }\nprogram none(x: int) { return }",
            "line 2, column 3: program main: if one, none: the branches differ: one has 1 results, none has 0; return "
            "the same "
            "from both"},
        BadRule{"BranchesOfOtherTypes",
                MAIN("c: bool, x: int, z: f32[5]",
                     "y = if c then a else b(x, z)") "program a(x: int, z: f32[5]) { return x }\nprogram b(x: int, z: "
                                                     "f32[5]) { return z }",
                "line 2, column 3: program main: if a, b: the branches differ: result 0 of b is f32[5], expected int"}),
    [](const auto& info) { return info.param.name; });

// Programs that are built by hand and that the text form can't express.

TEST(Verify, RefusesProgramsThatInvokeEachOtherTooDeep) {
  const auto chain = [](int length) {
    std::string text;
    for (int i = 0; i < length; ++i)
      text += "program p" + std::to_string(i) + "() {\n  invoke p" + std::to_string(i + 1) + "()\n  return\n}\n";
    return Parse(text + "program p" + std::to_string(length) + "() {\n  return\n}\n");
  };
  EXPECT_EQ(FindProblem(chain(99)), "");
  const std::string refused = "program p0: programs invoke each other more than 100 deep; write the steps of some out";
  EXPECT_EQ(FindProblem(chain(100)), "ValueError: line 1, column 1: " + refused);
  // Those that are invoked come first: each was looked at before its caller is.
  ProgramModule reversed = chain(100);
  std::reverse(reversed.programs.begin(), reversed.programs.end());
  EXPECT_EQ(FindProblem(reversed), "ValueError: line 1, column 1: " + refused);
}

TEST(Verify, RefusesAValueBeforeItsDefinition) {
  Program p =
      Parse("program main(x: f32[5]) {\n  y = call m.negate(x)\n  z = call m.negate(y)\n  return z\n}").programs[0];
  std::swap(p.steps[0], p.steps[1]);
  EXPECT_EQ(FindProblem({{p}}),
            "ValueError: line 3, column 3: program main: call m.negate: 'y' has no value here: define it above, "
            "as a parameter or by a step");
}

TEST(Verify, RefusesAValueOfNoStepAndOneOfTwo) {
  Program p = Parse("program main(x: f32[5]) {\n  y = call m.negate(x)\n  return y\n}").programs[0];
  Program none = p;
  none.values.push_back({"w", {}, {}, {}});
  EXPECT_EQ(FindProblem({{none}}), "ValueError: program main: 'w' isn't a result of a step");
  p.steps.push_back(p.steps[0]);
  EXPECT_EQ(FindProblem({{p}}),
            "ValueError: line 2, column 3: program main: call m.negate: 'y' is defined already: each value has "
            "one definition");
}

TEST(Verify, RefusesNumbersOfNoValue) {
  ProgramBuilder b("main");
  b.Return({b.Param("x", Type::Tensor(f32))});
  Program p = b.Finish();
  p.results[0].value = 7;
  EXPECT_EQ(FindProblem({{p}}),
            "ValueError: program main: return: value 7, which doesn't exist has no value here: define it "
            "above, as a parameter or by a step");
  EXPECT_THROW(b.Call("m.negate", {3}), Error);
}

TEST(Verify, RefusesSymbolsAndNamesThatTheTextCannotSay) {
  ProgramBuilder b("main");
  b.Param("x", Type::Tensor(f32, {{"2 * N"}}));
  EXPECT_EQ(FindProblem({{b.Finish()}}),
            "ValueError: program main: 'x': '2 * N' isn't a valid symbol: expected an identifier");
  EXPECT_EQ(FindProblem({{ProgramBuilder("").Finish()}}),
            "ValueError: program : a program without a name: give it one");
  EXPECT_EQ(FindProblem({{ProgramBuilder("a").Finish(), ProgramBuilder("a").Finish()}}),
            "ValueError: program a: there is another program of that name: rename one");
  ProgramBuilder twice("main");
  twice.Param("x", Type::Of(TypeKind::kInt));
  twice.Param("x", Type::Of(TypeKind::kInt));
  EXPECT_EQ(FindProblem({{twice.Finish()}}),
            "ValueError: program main: parameter 'x' appears twice: give one another name");
}

TEST(InferTypes, FollowSignaturesThroughProgramsAndSymbols) {
  const ProgramModule m = Parse(R"(program main(x: f32[N], y: f32[8], c: bool, n: int) {
  k = const 12
  a = call m.negate(x)
  b = call m.half(y)
  d = call m.half(x)
  t = tuple(x, y)
  e = call m.concat(t, k)
  f = call m.concat(t, n)
  g = get t[1]
  h = invoke inner(x)
  i = if c then inner else inner(y)
  j @cpu = copy i
  s = shape j
  l = call m.any(x)
  o = tuple(k, n)
  u = get o[0]
  v = get o[1]
  w = call m.concat(t, u)
  z = call m.concat(t, v)
  return
}
program inner(p: f32[M]) {
  q = call m.negate(p)
  return q
}
)");
  const std::vector<Type> types = InferTypes(m, TestFunctions())[0];
  std::string got;
  for (size_t v = 0; v < types.size(); ++v) got += m.programs[0].values[v].name + ": " + types[v].str() + "\n";
  EXPECT_EQ(got, R"(x: f32[N]
y: f32[8]
c: bool
n: int
k: int
a: f32[N]
b: f32[4]
d: f32[_]
t: tuple[f32[N], f32[8]]
e: f32[12]
f: f32[_]
g: f32[8]
h: f32[N]
i: f32[8]
j: f32[8]
s: shape
l: bool[]
o: tuple[int, int]
u: int
v: int
w: f32[12]
z: f32[_]
)");
}

TEST(FunctionTable, RefusesWhatItCannotHold) {
  FunctionTable table = TestFunctions();
  Function f;
  f.name = "m.add";
  EXPECT_THROW(table.Add(f), Error);
  f.name = "m.broken";
  f.signature = "(x: f32[N) -> ()";
  try {
    table.Add(f);
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("m.broken: signature '(x: f32[N) -> ()', position 9"), std::string::npos)
        << e.what();
  }
  EXPECT_EQ(table.Find("m.broken"), nullptr);
}

}  // namespace
}  // namespace kernpack::sdk::program
