// The text form: what is written reads back as the same, and what cannot be read says where.
#include <kernpack/error.h>
#include <kernpack/sdk/ir/builder.h>
#include <kernpack/sdk/ir/equal.h>
#include <kernpack/sdk/ir/text.h>

#include <gtest/gtest.h>

#include <cmath>

#include "ir/support.h"

namespace kernpack::sdk::ir {
namespace {

// One of everything.
constexpr const char* kEverything = R"ir(module "all" target "c"

private func helper(x: f32[N], k: f64) -> (y: f32[N, 2]) {
  return
}

func grad() -> () {
}

func main(x: f32[N, D], h: bf16[D], cache!: i32[N], k: f64, n: i32, on: bool) -> (out: f32[N, D], flag: bool[]) target "c -mcpu=x" signature "(...) -> ()" grad "grad" {
  let s: f32 = reduce(+, j in 0..D, any 16, x[0, j] * f32(h[j]))
  let m: f32 = reduce(max, j_1 in 0..D, sequential, x[0, j_1])
  alloc t: f32[4, D] local
  alloc w: f64[D * 2] workspace
  alloc p: u8[16] persistent("seen \"once\"\x0a", zeroed)
  parallel(4) i in 0..N {
    for q in 0i32..n {
      cache[i] = cache[i] + q % 3i32 - (q - 2i32) / floordiv(q, -2i32)
    }
    vectorized(8, masked) j_2 in 0..D {
      out[i, j_2] = select(x[i, j_2] > s, exp(x[i, j_2] - m), -inf)
    }
    unrolled u in 0..4 {
      t[u, 0] = bitcast(f32, 1065353216i32) + f32(k) * -1.5 + min(s, nan)
    }
  }
  let v: f32x4 = load_if(x[0, ramp(0, 1, 4)], broadcast(on, 4), broadcast(0.0, 4))
  t[0, ramp(0, 1, 4)] = shuffle(v, v, [3, 2, 5, 0]) where v == broadcast(1.0, 4)
  flag[] = ~on & lanes(max, v) >= 1e+20 | u8(n) << 3u8 != 255u8
  if on {
    assert n > 0i32, TypeError "n is \\ not positive"
  } else {
    call helper(x, out, k)
  }
  launch grid(N, 2, 1) block(32, 1, 1) shared(64) {
    alloc tile: f32[32] shared
    tile[thread.x] = f32(block.y)
    barrier
  }
  evaluate extern("cos", f64, -(1.0f64), -k)
  while m < f32(reduce(argmax, q_1 in 0..D, sequential, x[0, q_1])) {
    if on {
      continue
    }
    break
  }
}
)ir";

TEST(IrText, WhatIsPrintedReadsBackAsTheSame) {
  const IRModule m = Parse(kEverything);
  EXPECT_EQ(Print(m), kEverything);
  EXPECT_TRUE(Equal(Parse(Print(m)), m));
  EXPECT_EQ(Hash(Parse(Print(m))), Hash(m));
}

TEST(IrText, PrecedenceIsKept) {
  const Var a = MakeVar("a", kI64), b = MakeVar("b", kI64);
  const Expr x(a), y(b);
  EXPECT_EQ(Print((x + y) * y), "(a + b) * b");
  EXPECT_EQ(Print(x + y * y), "a + b * b");
  EXPECT_EQ(Print(x - (y - x)), "a - (b - a)");
  EXPECT_EQ(Print(x - y - x), "a - b - a");
  EXPECT_EQ(Print((x & y) == (x | y)), "(a & b) == (a | b)");
  EXPECT_EQ(Print((x << 2) + 1), "(a << 2) + 1");
  EXPECT_EQ(Print(-(x + y)), "-(a + b)");
  EXPECT_EQ(Print(-Expr(3)), "-(3)");
  EXPECT_EQ(Print(Expr(-3) - Expr(-4)), "-3 - -4");
}

class IrConstants : public testing::TestWithParam<std::pair<const char*, double>> {};

TEST_P(IrConstants, EveryTypeReadsBack) {
  const auto& [type_name, value] = GetParam();
  Type t;
  ASSERT_TRUE(TypeFromName(type_name, &t));
  FunctionBuilder f("f");
  f.Let("c", ConstFloat(t, value));
  const IRModule m{"m", "", {f.Finish()}};
  EXPECT_TRUE(Equal(Parse(Print(m)), m)) << Print(m);
}

std::vector<std::pair<const char*, double>> EveryConstant() {
  std::vector<std::pair<const char*, double>> all;
  for (const char* type :
       {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "f8_e4m3fn", "f8_e5m2"}) {
    for (const double v :
         {0.0, -0.0, 1.0, -1.0, 0.1, 1e300, -1e300, 1e-40, double{INFINITY}, double{-INFINITY}, double{NAN}, 255.0}) {
      all.emplace_back(type, v);
    }
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, IrConstants, testing::ValuesIn(EveryConstant()), [](const auto& info) {
  return std::string(info.param.first) + "_" + std::to_string(info.index);
});

TEST(IrText, LiteralsTakeTheTypeOfTheOtherOperand) {
  const IRModule m =
      Parse("func f(a: i32, b: f64, h: f16[1]) -> (o: u8[1]) { let x = a + 1 let y = 2.0 * b o[0] = 255 h[0] = 0.5 }");
  const Block& body = m.functions[0]->body;
  EXPECT_EQ(TypeName(body[0]->var->type), "i32");
  EXPECT_EQ(TypeName(body[1]->var->type), "f64");
  EXPECT_THROW(Parse("func f() -> (o: u8[1]) { o[0] = 256 }"), Error);
}

TEST(IrEqual, NamesInsideDoNotCountAndEverythingElseDoes) {
  const auto one = [](const char* text) { return Parse(text); };
  const IRModule a = one("func f(x: f32[N]) -> (o: f32[N]) { for i in 0..N { let t = x[i] o[i] = t } }");
  const IRModule b = one("func f(x: f32[M]) -> (o: f32[M]) { for j in 0..M { let u = x[j] o[j] = u } }");
  EXPECT_TRUE(Equal(a, b));
  EXPECT_EQ(Hash(a), Hash(b));
  const char* const kDifferent[] = {
      "func g(x: f32[N]) -> (o: f32[N]) { for i in 0..N { let t = x[i] o[i] = t } }",
      "func f(y: f32[N]) -> (o: f32[N]) { for i in 0..N { let t = y[i] o[i] = t } }",
      "func f(x: f32[N]) -> (o: f32[N]) { parallel i in 0..N { let t = x[i] o[i] = t } }",
      "func f(x: f32[N]) -> (o: f32[N]) { for i in 1..N { let t = x[i] o[i] = t } }",
      "func f(x: f32[N]) -> (o: f32[N]) { for i in 0..N { let t = x[i] o[i] = t + t } }",
      "func f(x!: f32[N]) -> (o: f32[N]) { for i in 0..N { let t = x[i] o[i] = t } }",
      "private func f(x: f32[N]) -> (o: f32[N]) { for i in 0..N { let t = x[i] o[i] = t } }",
      "func f(x: f32[N]) -> (o: f32[N]) target \"c\" { for i in 0..N { let t = x[i] o[i] = t } }",
  };
  for (const char* text : kDifferent) {
    EXPECT_FALSE(Equal(a, one(text))) << text;
    EXPECT_NE(Hash(a), Hash(one(text))) << text;
  }
}

TEST(IrText, NamesThatMeetAreToldApart) {
  FunctionBuilder f("f");
  const Buffer out = f.Result("out", kI64, {Expr(1)});
  const Expr a = f.Let("t", Expr(1)), b = f.Let("t", Expr(2)), c = f.Let("for", Expr(3));
  f.Store(out, {Expr(0)}, a * b * c);
  const IRModule m{"m", "", {f.Finish()}};
  EXPECT_NE(Print(m).find("t * t_1 * for_1"), std::string::npos) << Print(m);
  EXPECT_TRUE(Equal(Parse(Print(m)), m));
}

struct BadText {
  const char* text;
  const char* message;
};
void PrintTo(const BadText& bad, std::ostream* out) { *out << bad.text; }

class IrMalformed : public testing::TestWithParam<BadText> {};

TEST_P(IrMalformed, SaysWhereAndWhy) {
  try {
    Parse(GetParam().text);
    FAIL() << "no error for: " << GetParam().text;
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), GetParam().message);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, IrMalformed,
    testing::Values(
        BadText{"fun f() -> () {}", "line 1, column 1: expected 'func' or 'private func', got 'fun'"},
        BadText{"func f() -> () {", "line 1, column 17: expected a statement or '}', got the end"},
        BadText{"func f() -> () {} func f() -> () {}", "line 1, column 19: function 'f' is defined already"},
        BadText{"func f(x: f32) -> (y: f32) {}",
                "line 1, column 20: 'y' is written to and must be a tensor: give it a shape, [] for one value"},
        BadText{"func f(x: f33[1]) -> () {}",
                "line 1, column 11: expected a type (bool, i8 to i64, u8 to u64, f16, bf16, f32, f64, f8_e4m3fn or "
                "f8_e5m2, "
                "with lanes as in f32x8), got 'f33'"},
        BadText{"func f(x: f32[2 * N]) -> () {}",
                "line 1, column 19: no parameter binds 'N': it must stand alone as an extent of one"},
        BadText{"func f(x: f32[N, D / 2]) -> (o: f32[N, D]) {}",
                "line 1, column 18: no parameter binds 'D': it must stand alone as an extent of one; write E in place "
                "of D / 2, and 2 * E in place of D"},
        BadText{"func f(x: f32[-1]) -> () {}", "line 1, column 8: x: expected an extent of at least 0, got -1"},
        BadText{"func f() -> () {\n  let a = b\n}", "line 2, column 11: 'b' is not defined here"},
        BadText{"func f() -> () {\n  let a = 1 let a = 2\n}", "line 2, column 17: 'a' is defined already"},
        BadText{"func f(n: i32) -> () { let a = n + 1.5 }",
                "line 1, column 34: +: expected operands of one type, got i32 and f32; cast one of them"},
        BadText{"func f(h: f16[1]) -> () { let a = h[0] * h[0] }",
                "line 1, column 40: *: does not take f16, a storage type: cast to f32 first"},
        BadText{"func f(x: f32[N, N]) -> () { let a = x[0] }",
                "line 1, column 38: x: expected 2 indices, one per dimension, got 1"},
        BadText{"func f() -> () { let a = 1 < 2 < 3 }", "line 1, column 32: comparisons do not chain; use parentheses"},
        BadText{"func f() -> () { let a = 300u8 }", "line 1, column 26: 300 is not in the range of u8"},
        BadText{
            "func f() -> () { let a = 1.5i32 }",
            "line 1, column 26: expected a number, optionally followed by its type as in 1i32 or 0.5f64, got '1.5i32'"},
        BadText{"func f() -> () { let a = exp(1) }", "line 1, column 26: exp: does not take i64"},
        BadText{"func f() -> () { let a = foo(1) }", "line 1, column 26: 'foo' isn't an operation"},
        BadText{"func f() -> () { let a = ramp(0, 1, 3) }",
                "line 1, column 26: ramp: expected 2, 4, ... or 64 lanes, got 3"},
        BadText{"func f() -> () { assert true, \"open\n }",
                "line 1, column 31: a string that does not end on its line"},
        BadText{"func f() -> () { let for = 1 }", "line 1, column 22: 'for' is a keyword; choose another name"}),
    [](const auto& info) { return "Text_" + std::to_string(info.index); });

TEST(IrHeader, IsAFunctionWithoutStatements) {
  const FuncNode f = ParseHeader("scale", "(x: f32[N], k!: f32[2 * N]) -> (y: f32[N])");
  EXPECT_TRUE(Equal(f, *Parse("func scale(x: f32[N], k!: f32[2 * N]) -> (y: f32[N]) { }").functions.front()));
  EXPECT_EQ(ir_test::CatchMessage([] { ParseHeader("for", "() -> ()"); }),
            "ValueError: 'for' isn't a valid function name");
}

TEST(IrHeader, ItsPositionsAreThoseInTheHeader) {
  const auto place_of = [](const char* header) {
    try {
      ParseHeader("scale", header);
    } catch (const TextError& e) {
      return std::to_string(e.position().line) + ":" + std::to_string(e.position().column) + " " + e.message();
    }
    return std::string("none");
  };
  EXPECT_EQ(place_of("(x f32[N]) -> ()"), "1:4 expected ':', got 'f32'");
  EXPECT_EQ(place_of("(x: f32[N],\n k f32) -> ()"), "2:4 expected ':', got 'f32'");
  EXPECT_EQ(place_of("(x: f32[N]) -> () { }"), "1:19 expected the end of the header, got '{'");
  EXPECT_EQ(ParseHeader("scale", "(x: f32[N], k: f32) -> ()").params[1].position.column, 13u);
}

TEST(IrText, DeepNestingIsAnErrorAndNoCrash) {
  std::string parentheses = "func f() -> () { let a = " + std::string(100000, '(');
  std::string blocks = "func f() -> () {";
  for (int i = 0; i < 100000; ++i) blocks += "if true {";
  std::string sum = "func f() -> () { let a = 1";
  for (int i = 0; i < 1000; ++i) sum += " + 1";
  for (const std::string& text : {parentheses, blocks, sum + " }"}) EXPECT_THROW(Parse(text), Error);
}

TEST(IrExpr, GrowthThroughSharingIsAnError) {
  Expr e(1.5f);
  EXPECT_THROW(
      {
        for (int i = 0; i < 60; ++i) e = e * e;
      },
      Error);
}

}  // namespace
}  // namespace kernpack::sdk::ir
