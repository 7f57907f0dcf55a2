// The text form of programs: what is written reads back as the same, and what cannot be read says where.
#include <kernpack/error.h>
#include <kernpack/sdk/program/builder.h>
#include <kernpack/sdk/program/text.h>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace kernpack::sdk::program {
namespace {

// One of everything.
constexpr const char* kEverything = R"(program half(x: f32[N, 8], c: int) {
  return x
}

program "odd name"(x: f32[...], c) {
  y: f32[N, _] @cpu = call a.b.c(x, c)
  return y @cuda:1 target "cuda -arch=sm_90" scope "global"
}

program main(x: f32[N, 8] @opencl:0, b: bool[], w: bf16[], s: str, t: dtype, n: none, h: shape, o: bool, l: tuple[f32[N], int]) {
  k = const 3
  eps = const 1e-06
  mode = const "mea\"n\x0a"
  none = const None
  yes = const true
  dt = const bf16
  low = const -inf
  e = const [2, -1]
  v, i: i32[N] @:2 = call "my-kernels.top k"(x, k)
  call kernels.kv_append(v, i)
  list = tuple(v, k)
  first: int = get list[0]
  c, d = if o then half else "odd name"(x, k)
  z @scope "local" = invoke half(x, k)
  moved @cuda:0 = copy z
  extents = shape moved
  return first, moved @cpu
}
)";

TEST(ProgramText, WhatIsPrintedReadsBackAsTheSame) {
  const ProgramModule m = Parse(kEverything);
  EXPECT_EQ(Print(m), kEverything);
  EXPECT_TRUE(Equal(Parse(Print(m)), m));
}

TEST(ProgramText, WhatTheBuilderMakesReadsBackAsTheSame) {
  ProgramBuilder b("main");
  const ValueId x = b.Param("x", Type::Tensor(f32, {{"N", 8}}), VirtualDevice::ForDeviceType(KP_DEVICE_CPU, 0));
  const ValueId condition = b.Param("return", Type::Of(TypeKind::kBool));
  const ValueId k = b.Const(int64_t{2});
  const std::vector<ValueId> top = b.CallAll("m.topk", {x, k}, 2);
  const ValueId list = b.Tuple({top[0], k});
  const ValueId back = b.TupleGet(list, 0);
  b.Name(top[0], "x").Typed(top[1], Type::Tensor(i32, {{"N", 2}}));
  const std::vector<ValueId> z = b.If(condition, "sub", "sub", {back}, 1);
  const ValueId shape = b.ShapeOf(b.Copy(b.Invoke("sub", z)[0], VirtualDevice::ForMemoryScope("s")));
  b.Return({z[0]}, VirtualDevice::ForDeviceType(KP_DEVICE_CUDA)).Return({shape});
  const Program p = b.Finish();
  const ProgramModule m = Parse(Print(p));
  ASSERT_EQ(m.programs.size(), 1U);
  // A parameter's name counts, and `return` is none in the text.
  Program renamed = p;
  renamed.values[condition].name = m.programs[0].values[condition].name;
  EXPECT_NE(renamed.values[condition].name, "return");
  EXPECT_TRUE(Equal(m.programs[0], renamed)) << Print(p);
  EXPECT_FALSE(Equal(m.programs[0], p));
}

struct Written {
  Constant value;
  Program InProgram() const {
    ProgramBuilder b("main");
    b.Const(value);
    return b.Finish();
  }
};
void PrintTo(const Written& w, std::ostream* out) { *out << Print(w.InProgram()); }

class ProgramConstants : public testing::TestWithParam<Written> {};

TEST_P(ProgramConstants, ReadBackAsTheSame) {
  const Program p = GetParam().InProgram();
  EXPECT_TRUE(Equal(Parse(Print(p)).programs.at(0), p));
}

INSTANTIATE_TEST_SUITE_P(All, ProgramConstants,
                         testing::Values(Written{std::monostate()}, Written{false}, Written{int64_t{-7}},
                                         Written{std::numeric_limits<int64_t>::min()}, Written{-0.0}, Written{1.0},
                                         Written{0.1}, Written{1e300}, Written{5e-324},
                                         Written{std::numeric_limits<double>::quiet_NaN()},
                                         Written{-std::numeric_limits<double>::infinity()},
                                         Written{std::string("a\\\"\t\x7f é")}, Written{f8_e4m3fn}, Written{c64},
                                         Written{std::vector<int64_t>{}}, Written{std::vector<int64_t>{1, 2}}));

TEST(ProgramText, EqualitySeesWhatACallerSees) {
  const auto equal = [](const char* a, const char* b) {
    const auto in = [](const char* step) {
      return Parse(std::string("program p(x: f32[N], y: f32[N]) {\n") + step + "\nreturn a\n}");
    };
    return Equal(in(a), in(b));
  };
  EXPECT_TRUE(equal("a = call f.g(x)", "a = call \"f.g\"(x)"));
  EXPECT_FALSE(equal("a = call f.g(x)", "a = call f.g(y)"));
  EXPECT_FALSE(equal("a = call f.g(x)", "a = call f.h(x)"));
  EXPECT_FALSE(equal("a = call f.g(x)", "a: f32[N] = call f.g(x)"));
  EXPECT_FALSE(equal("a = call f.g(x)", "a @cpu = call f.g(x)"));
  EXPECT_FALSE(equal("a = const 0.0", "a = const -0.0"));
  EXPECT_FALSE(equal("a = const 1", "a = const 1.0"));
  EXPECT_TRUE(
      Equal(Parse("program p() {\n a = const 1\n return a\n}"), Parse("program p() {\n b = const 1\n return b\n}")));
  EXPECT_FALSE(Equal(Parse("program p(x: int) {\n return x\n}"), Parse("program p(y: int) {\n return y\n}")));
}

struct BadText {
  const char* text;
  const char* error;  // contained in what is said
};
void PrintTo(const BadText& bad, std::ostream* out) { *out << bad.text; }

class BadProgramText : public testing::TestWithParam<BadText> {};

TEST_P(BadProgramText, SaysWhereAndWhat) {
  try {
    Parse(GetParam().text);
    FAIL() << "parsed";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(GetParam().error), std::string::npos) << e.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadProgramText,
    testing::Values(
        BadText{"func f() {}", "line 1, column 1: expected 'program', got 'func'"},
        BadText{"program p() {\n  return x\n}", "line 2, column 10: 'x' has no value here: define it above"},
        BadText{"program p() {\n  a = call f.g(b)\n  b = const 1\n  return b\n}",
                "line 2, column 16: 'b' has no value here"},
        BadText{"program p(x: int) {\n  x = const 1\n  return x\n}", "line 2, column 3: 'x' is defined already"},
        BadText{"program p() { return }\nprogram p() { return }", "line 2, column 1: program 'p' is defined already"},
        BadText{"program p(x: f33[N]) { return }", "line 1, column 14: expected a type: f32[N, 8]"},
        BadText{"program p(x: f32) { return }", "line 1, column 17: expected '[', got ')'"},
        BadText{"program p(x: f32[-1]) { return }", "line 1, column 18: expected an extent that is not negative"},
        BadText{"program p(x: tuple[tuple[int]]) { return }", "line 1, column 20: a tuple in a tuple"},
        BadText{"program p(x: int @) { return }", "line 1, column 19: expected a device"},
        BadText{"program p(x: int @gpux) { return }", "line 1, column 19: "},
        BadText{"program p(x: int @cpu:4294967296) { return }", "line 1, column 23: expected a virtual id of 31 bits"},
        BadText{"program p(x: int @cpu target \"cuda\") { return }", "line 1, column 18: "},
        BadText{"program p(x: int @cpu target \"nonsense\") { return }", "line 1, column 30: "},
        BadText{"program p() {\n  a = const 99999999999999999999\n  return a\n}",
                "line 2, column 13: expected an integer of 64 bits"},
        BadText{"program p() {\n  a = const f99\n  return a\n}", "line 2, column 13: expected a constant"},
        BadText{"program p() {\n  a, b = const 1\n  return a\n}",
                "line 2, column 10: expected 'call', 'invoke' or 'if'"},
        BadText{"program p(x: int) {\n  a = negate x\n  return a\n}", "line 2, column 7: expected 'const', 'call'"},
        BadText{"program p(x: int) {\n  call = call f.g(x)\n  return x\n}",
                "line 2, column 8: expected the name of a function"},
        BadText{"program p(x: int) {\n  a = get x[-1]\n  return a\n}",
                "line 2, column 13: expected an index of 31 bits"},
        BadText{"program p(x: int) {\n  a = call f.g(x\n", "line 3, column 1: expected ')', got the end"},
        BadText{"program p(x: int) {\n  a = const \"abc\n  return a\n}",
                "line 2, column 13: a string that does not end"}));

}  // namespace
}  // namespace kernpack::sdk::program
