// Where values come to live and what is copied: the cases of the planner that this one follows, as programs.
#include <gtest/gtest.h>

#include "plan/support.h"

namespace kernpack::sdk::program {
namespace {

struct Case {
  const char* name;
  const char* program;
  const char* planned;  // Short()
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Placement : public testing::TestWithParam<Case> {};

TEST_P(Placement, IsAsExpected) { EXPECT_EQ(Short(BuildPlan(GetParam().program).module), GetParam().planned); }

TEST_P(Placement, OfWhatIsPlacedChangesNothing) {
  const Plan once = BuildPlan(GetParam().program);
  const Plan twice = BuildPlan(once.module);
  EXPECT_TRUE(Equal(once.module, twice.module)) << Short(twice.module);
  EXPECT_TRUE(Equal(Parse(Print(once)), once.module)) << Print(once);
}

const Case kCases[] = {
    {"WhatNobodyPlacesIsOnTheDefaultDevice",
     R"(program main(a: f32[5], b: f32[5], c: f32[5]) {
  x = call m.add(a, b)
  y = call m.sub(x, c)
  return y
}
)",
     R"(program main(a @cuda, b @cuda, c @cuda) {
  x @cuda = call m.add(a, b)
  y @cuda = call m.sub(x, c)
  return y
}
)"},
    {"AnAnnotatedCallTakesItsParametersAlong",
     R"(program main(a: f32[5], b: f32[5], c: f32[5], d: f32[5]) {
  l @cpu = call m.add(a, b)
  r = call m.add(c, d)
  y = call m.sub(l, r)
  return y
}
)",
     R"(program main(a @cpu, b @cpu, c @cuda, d @cuda) {
  l @cpu = call m.add(a, b)
  r @cuda = call m.add(c, d)
  l_cuda @cuda = copy l
  y @cuda = call m.sub(l_cuda, r)
  return y
}
)"},
    {"ACopyByHandIsAsGoodAsAnAnnotation",
     R"(program main(a: f32[5] @cpu, c: f32[5]) {
  l = call m.negate(a)
  m @cuda = copy l
  y = call m.sub(m, c)
  return y
}
)",
     R"(program main(a @cpu, c @cuda) {
  l @cpu = call m.negate(a)
  m @cuda = copy l
  y @cuda = call m.sub(m, c)
  return y
}
)"},
    {"ACopyToWhereTheValueIsGoes",
     R"(program main(a: f32[5]) {
  l = call m.negate(a)
  m @cuda = copy l
  y = call m.negate(m)
  return y
}
)",
     R"(program main(a @cuda) {
  l @cuda = call m.negate(a)
  y @cuda = call m.negate(l)
  return y
}
)"},
    {"TwoAnnotatedValuesAreTwoCopies",
     R"(program main(a: f32[5], b: f32[5]) {
  l @cpu = call m.negate(a)
  r @cpu = call m.negate(b)
  y = call m.sub(l, r)
  return y
}
)",
     R"(program main(a @cpu, b @cpu) {
  l @cpu = call m.negate(a)
  r @cpu = call m.negate(b)
  l_cuda @cuda = copy l
  r_cuda @cuda = copy r
  y @cuda = call m.sub(l_cuda, r_cuda)
  return y
}
)"},
    {"TwoUsesOfOneValueAreOneCopy",
     R"(program main(a: f32[5]) {
  l @cpu = call m.negate(a)
  y = call m.sub(l, l)
  z = call m.add(y, l)
  return z
}
)",
     R"(program main(a @cpu) {
  l @cpu = call m.negate(a)
  l_cuda @cuda = copy l
  y @cuda = call m.sub(l_cuda, l_cuda)
  z @cuda = call m.add(y, l_cuda)
  return z
}
)"},
    {"ALaterUseSaysWhereAValueIsMade",
     R"(program main(a: f32[5]) {
  l = call m.negate(a)
  y @cpu = call m.negate(l)
  return y
}
)",
     R"(program main(a @cpu) {
  l @cpu = call m.negate(a)
  y @cpu = call m.negate(l)
  return y
}
)"},
    {"WhatAProgramReturnsSaysWhereItIsMade",
     R"(program main(a: f32[5]) {
  y = call m.negate(a)
  return y @cpu
}
)",
     R"(program main(a @cpu) {
  y @cpu = call m.negate(a)
  return y @cpu
}
)"},
    {"AResultIsCopiedToWhereTheCallerWantsIt",
     R"(program main(a: f32[5]) {
  y @cuda = call m.negate(a)
  return y @cpu, y
}
)",
     R"(program main(a @cuda) {
  y @cuda = call m.negate(a)
  y_cpu @cpu = copy y
  return y_cpu @cpu, y
}
)"},
    {"DevicesFlowThroughProgramsBothWays",
     R"(program main(a: f32[5]) {
  x = call m.negate(a)
  y = invoke inner(x)
  z = call m.negate(y)
  return z
}

program inner(p: f32[N]) {
  q = call m.on_cpu(p)
  return q
}
)",
     R"(program main(a @cpu) {
  x @cpu = call m.negate(a)
  y @cpu = invoke inner(x)
  z @cpu = call m.negate(y)
  return z
}

program inner(p @cpu) {
  q @cpu = call m.on_cpu(p)
  return q
}
)"},
    {"OneProgramIsInOnePlaceForAllWhoInvokeIt",
     R"(program main(a: f32[5] @cpu, b: f32[5] @cuda) {
  x @cpu = invoke inner(a)
  y @cuda = invoke inner(b)
  return x, y
}

program inner(p: f32[N]) {
  q = call m.negate(p)
  return q
}
)",
     R"(program main(a @cpu, b @cuda) {
  x @cpu = invoke inner(a)
  b_cpu @cpu = copy b
  y @cpu = invoke inner(b_cpu)
  y_1 @cuda = copy y
  return x, y_1
}

program inner(p @cpu) {
  q @cpu = call m.negate(p)
  return q
}
)"},
    {"ShapesAreOfTheHostAndMoveNoData",
     R"(program main(a: f32[5]) {
  x = call m.negate(a)
  s = shape x
  return s, x
}
)",
     R"(program main(a @cuda) {
  x @cuda = call m.negate(a)
  s @cpu = shape x
  return s, x
}
)"},
    {"ScalarsAreOfTheHost",
     R"(program main(a: f32[5], k: float) {
  half = const 0.5
  x = call m.scale(a, k)
  y = call m.scale(x, half)
  return y
}
)",
     R"(program main(a @cuda, k: float @cpu) {
  half @cpu = const 0.5
  x @cuda = call m.scale(a, k)
  y @cuda = call m.scale(x, half)
  return y
}
)"},
    {"ParametersThatTheSignatureWantsOnTheCpuAreCopiedThere",
     R"(program main(a: f32[5], order: i64[3] @cuda) {
  x @cuda = call m.permute(a, order)
  return x
}
)",
     R"(program main(a @cuda, order @cuda) {
  order_cpu @cpu = copy order
  x @cuda = call m.permute(a, order_cpu)
  return x
}
)"},
    {"RedundantAnnotationsAddNothing",
     R"(program main(a: f32[5], b: f32[5]) {
  x @cpu = call m.negate(a)
  y @cpu = call m.add(x, b)
  z @cpu = call m.sub(y, x)
  return z @cpu
}
)",
     R"(program main(a @cpu, b @cpu) {
  x @cpu = call m.negate(a)
  y @cpu = call m.add(x, b)
  z @cpu = call m.sub(y, x)
  return z @cpu
}
)"},
    {"WhatATupleHoldsLivesWhereItDid",
     R"(program main(a: f32[5] @cpu) {
  t = tuple(a, a)
  x = get t[1]
  y @cuda = call m.negate(x)
  return y
}
)",
     R"(program main(a @cpu) {
  t @cpu = tuple(a, a)
  x @cpu = get t[1]
  x_cuda @cuda = copy x
  y @cuda = call m.negate(x_cuda)
  return y
}
)"},
    {"ElementsOfAListAreCopiedEachOnce",
     R"(program main(a: f32[5] @cpu, b: f32[5], n: int) {
  t = tuple(a, b, a)
  y @cuda = call m.concat(t, n)
  z @cuda = call m.negate(a)
  return y, z
}
)",
     R"(program main(a @cpu, b @cuda, n: int @cpu) {
  t @cpu = tuple(a, b, a)
  a_cuda @cuda = copy a
  t_1 @cpu = tuple(a_cuda, b, a_cuda)
  y @cuda = call m.concat(t_1, n)
  z @cuda = call m.negate(a_cuda)
  return y, z
}
)"},
    {"AllResultsOfACallAreInOnePlace",
     R"(program main(a: f32[5]) {
  x, y @cpu = call m.split(a)
  return x, y
}
)",
     R"(program main(a @cpu) {
  x @cpu, y @cpu = call m.split(a)
  return x, y
}
)"},
    {"AConditionComesToTheHostAndBothBranchesAreInOnePlace",
     R"(program main(a: f32[5], c: bool[] @cuda) {
  x = if c then left else right(a)
  return x
}

program left(p: f32[N]) {
  q @cpu = call m.negate(p)
  return q
}

program right(p: f32[N]) {
  q = call m.negate(p)
  return q
}
)",
     R"(program main(a @cpu, c @cuda) {
  c_cpu @cpu = copy c
  x @cpu = if c_cpu then left else right(a)
  return x
}

program left(p @cpu) {
  q @cpu = call m.negate(p)
  return q
}

program right(p @cpu) {
  q @cpu = call m.negate(p)
  return q
}
)"},
    {"AnInputOfTwoDevicesIsCopied",
     R"(program main(a: f32[5], b: f32[5], c: f32[5]) {
  l @cpu = call m.add(a, b)
  r @cuda = call m.add(b, c)
  y = call m.sub(l, r)
  return y
}
)",
     R"(program main(a @cpu, b @cpu, c @cuda) {
  l @cpu = call m.add(a, b)
  b_cuda @cuda = copy b
  r @cuda = call m.add(b_cuda, c)
  l_cuda @cuda = copy l
  y @cuda = call m.sub(l_cuda, r)
  return y
}
)"},
    {"ScopesThatDifferAreACopyOnOneDevice",
     R"(program main(a: f32[5]) {
  x = call m.texture(a)
  y = call m.texture(x)
  z = call m.texture(x)
  return y, z
}
)",
     R"(program main(a @cuda scope "texture") {
  x @cuda scope "global" = call m.texture(a)
  x_cuda @cuda scope "texture" = copy x
  y @cuda scope "global" = call m.texture(x_cuda)
  z @cuda scope "global" = call m.texture(x_cuda)
  return y, z
}
)"},
    {"CopiesOfACopyAreTakenFromTheFirst",
     R"(program main(a: f32[5] @cuda) {
  b @cpu = copy a
  c @cuda = copy b
  d @cuda = call m.negate(b)
  e @cuda:1 = copy c
  f @cuda:1 = copy b
  return c, d, e, f
}
)",
     R"(program main(a @cuda) {
  d @cuda = call m.negate(a)
  e @cuda:1 = copy a
  return a, d, e, e
}
)"},
    {"AScopeBetweenTwoThatAreOpenIsNoCopy",
     R"(program main(a: f32[5]) {
  x @scope "global" = call m.negate(a)
  y = call m.negate(x)
  return y
}
)",
     R"(program main(a @cuda) {
  x @cuda scope "global" = call m.negate(a)
  y @cuda = call m.negate(x)
  return y
}
)"},
    {"FunctionsGoWhereTheyCanRun",
     R"(program main(a: f32[5]) {
  x @cpu = call m.on_cpu(a)
  y = call m.on_cuda(x)
  z = call m.on_either(x)
  return y, z
}
)",
     R"(program main(a @cpu) {
  x @cpu = call m.on_cpu(a)
  x_cuda @cuda = copy x
  y @cuda = call m.on_cuda(x_cuda)
  z @cuda = call m.on_either(x_cuda)
  return y, z
}
)"},
    {"ASignaturesOnSaysWhereItRuns",
     R"(program main(a: f32[5] @cpu) {
  x = call m.on_property(a)
  return x
}
)",
     R"(program main(a @cpu) {
  a_cuda @cuda = copy a
  x @cuda = call m.on_property(a_cuda)
  return x
}
)"},
    {"VirtualIdsAreDevicesOfTheirOwn",
     R"(program main(a: f32[5]) {
  x @cuda:0 = call m.negate(a)
  y @cuda:1 = call m.negate(x)
  z @:1 = call m.negate(y)
  return z
}
)",
     R"(program main(a @cuda) {
  x @cuda = call m.negate(a)
  x_cuda @cuda:1 = copy x
  y @cuda:1 = call m.negate(x_cuda)
  z @cuda:1 = call m.negate(y)
  return z
}
)"},
    {"WhatIsWrittenInPlaceIsNeverACopy",
     R"(program main(cache: f32[5], x: f32[5] @cpu) {
  call m.append(cache, x)
  y @cpu = copy cache
  call m.append(cache, y)
  z @cpu = copy cache
  w @cpu = call m.sub(y, z)
  return w
}
)",
     R"(program main(cache @cpu, x @cpu) {
  call m.append(cache, x)
  y @cpu = copy cache
  call m.append(cache, y)
  z @cpu = copy cache
  w @cpu = call m.sub(y, z)
  return w
}
)"},
    {"ACopyOfWhatIsWrittenMeanwhileIsTakenAgain",
     R"(program main(cache: f32[5] @cuda, x: f32[5] @cuda) {
  y @cpu = call m.negate(cache)
  call m.append(cache, x)
  z @cpu = call m.negate(cache)
  return y, z
}
)",
     R"(program main(cache @cuda, x @cuda) {
  cache_cpu @cpu = copy cache
  y @cpu = call m.negate(cache_cpu)
  call m.append(cache, x)
  cache_cpu_1 @cpu = copy cache
  z @cpu = call m.negate(cache_cpu_1)
  return y, z
}
)"},
    {"WhereFollowingOneUseWouldCopyMuchTheDefaultsAreTaken",
     R"(program main(x: f32[5], a: f32[5] @cuda, b: f32[5] @cuda) {
  v = call m.negate(x)
  c = call m.on_cpu(v)
  d = call m.add(v, a)
  e = call m.add(v, b)
  return c @cpu, d, e
}
)",
     R"(program main(x @cuda, a @cuda, b @cuda) {
  v @cuda = call m.negate(x)
  v_cpu @cpu = copy v
  c @cpu = call m.on_cpu(v_cpu)
  d @cuda = call m.add(v, a)
  e @cuda = call m.add(v, b)
  return c @cpu, d, e
}
)"},
};

INSTANTIATE_TEST_SUITE_P(All, Placement, testing::ValuesIn(kCases), [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace kernpack::sdk::program
