// Checked builds: the pass, and the kind c.
#include <kernpack/sdk/ir/equal.h>
#include <kernpack/sdk/ir/pass.h>
#include <kernpack/sdk/ir/verify.h>
#include <kernpack/sdk/schedule/default.h>

#include "differential/agree.h"
#include "ir/checked.h"
#include "ir/compiled.h"

namespace ir_test {
namespace {

using kernpack::sdk::Target;

IRModule MakeChecked(const IRModule& module) {
  const LabelledModule labelled = LabelAccesses(module);
  return CheckAccesses(Lower(labelled.module), labelled.labels);
}

size_t Asserts(const IRModule& module) {
  const std::string text = Print(module);
  size_t n = 0;
  for (size_t at = text.find("assert "); at != std::string::npos; at = text.find("assert ", at + 1)) ++n;
  return n;
}

TEST(CheckedBuild, TheInterpreterSaysTheSame) {
  const IRModule module = Unchecked("interpreted");
  const auto run = [](const IRModule& m) {
    return [&m](const std::string& f, const std::vector<KpAny>& args) {
      return CatchMessage([&] { Interpret(m, f, args); });
    };
  };
  ExpectCheckedCalls(module, run(module));
  // The checks are in the module: with them in it the interpreter's own find nothing, and its text means the same.
  const IRModule checked = MakeChecked(module);
  ExpectCheckedCalls(module, run(checked));
  const IRModule again = Parse(Print(checked));
  EXPECT_TRUE(again.checked);
  EXPECT_TRUE(Equal(again, checked));
  Verify(again);
}

TEST(CheckedBuild, OfTheKindCRaises) {
  const Environment quick("KERNPACK_CFLAGS", "-O0");
  const IRModule module = Unchecked("c");
  const Compiled compiled(module, "c", {.checked = true});
  ExpectCheckedCalls(module,
                     [&](const std::string& f, const std::vector<KpAny>& args) { return compiled.Call(f, args); });
}

TEST(CheckedBuild, ChecksOnlyWhatMayBeOutside) {
  const auto asserts = [](const char* body) {
    return Asserts(MakeChecked(Parse(std::string("func f(x: f32[N, D], k: i64) -> (o: f32[N, D]) { ") + body + " }")));
  };
  EXPECT_EQ(asserts("parallel i in 0..N { for j in 0..D { o[i, j] = x[i, j] } }"), 0u);
  EXPECT_EQ(asserts("for i in 1..N { for j in 2..D - 1 { o[i - 1, j + 1] = x[i, j - 2] } }"), 0u);
  EXPECT_EQ(asserts("for i in 0..N { vectorized(8) j in 0..D { o[i, j] = x[i, j] } }"), 0u);
  EXPECT_EQ(
      asserts(
          "for i in 0..N { alloc t: f32[4] local unrolled j in 0..4 { t[j] = 1.0 } for j in 0..D { o[i, j] = t[3] } }"),
      0u);
  EXPECT_EQ(asserts("for i in 0..N { for j in 0..D { o[i, j] = reduce(+, q in 0..D, any 8, x[i, q]) } }"), 1u)
      << "the masked step at the end";
  EXPECT_EQ(asserts("for i in 0..N { for j in 0..D { o[i, j] = x[j, i] } }"), 2u);
  EXPECT_EQ(asserts("for i in 0..N { for j in 0..D { o[i, j] = x[i, j + k] } }"), 1u);
  EXPECT_EQ(asserts("for i in 0..N { for j in k..D { o[i, j] = x[i, 0] } }"), 2u) << "D may be 0";
  EXPECT_EQ(asserts("for i in 0..N { let j = i * k o[i, floormod(j, D)] = 1.0 }"), 1u);
}

// i32 wraps before it is an index: what the polynomial says of it is not what is accessed.
TEST(CheckedBuild, DoesNotTrustNarrowArithmetic) {
  const char* text =
      R"ir(func f(n: i64, x: f32[N]) -> (o: f32[1]) {
        for i in 65536i32..65537i32 {
          o[0] = x[i64(i * i) - 4294967296]
        }
      })ir";
  Array x(kF32, {1}), o(kF32, {1});
  EXPECT_EQ(CatchMessage([&] { Interpret(MakeChecked(Parse(text)), "f", {Int(0), x.Value(), o.Value()}); }),
            "IndexError: f: x[i64(i * i) - 4294967296]: index -4294967296 is out of range for axis 0 of extent 1");
}

TEST(CheckedBuild, StoresNothingOutside) {
  const IRModule module = Parse("func f(x: i64[N], k: i64) -> (o: i64[2]) { o[k] = 1 }");
  IRModule named = module;
  named.name = "stores_nothing_outside";
  const Compiled compiled(named, "c", {.checked = true});
  std::vector<int64_t> memory(6, 7);
  const int64_t shape[] = {2};
  KpDLTensor middle{memory.data() + 2, {KP_DEVICE_CPU, 0}, 1, kI64, const_cast<int64_t*>(shape), nullptr, 0};
  Array x(kI64, {1});
  for (const int64_t k : {-2, -1, 2, 3}) {
    EXPECT_EQ(compiled.Call("f", {x.Value(), Int(k), Value(&middle)}),
              "IndexError: f: o[k]: index " + std::to_string(k) + " is out of range for axis 0 of extent 2");
  }
  EXPECT_EQ(memory, std::vector<int64_t>(6, 7));
}

TEST(CheckedBuild, LeavesOtherBuildsAlone) {
  const IRModule module = Unchecked("source");
  const Target target("c");
  const std::string plain = kernpack::sdk::Source(module, target);
  EXPECT_EQ(plain, kernpack::sdk::Source(module, target, {.checked = false}));
  EXPECT_EQ(plain.find("out of range"), std::string::npos);
  EXPECT_EQ(Asserts(Lower(module)), 0u);
  const std::string checked = kernpack::sdk::Source(module, target, {.checked = true});
  EXPECT_NE(checked.find("gather: t[idx[i]]: index {} is out of range for axis 0 of extent {}"), std::string::npos);
  EXPECT_EQ(kernpack::sdk::Source(MakeChecked(module), target, {.checked = true}),
            kernpack::sdk::Source(MakeChecked(module), target))
      << "checked once";
}

TEST(CheckedBuild, ComputesTheSame) {
  const IRModule module = Batch(0, "checked_random");
  const Runner want = Interpreted(Lower(module)), got = Interpreted(MakeChecked(module));
  for (const PrimFunc& f : module.functions) {
    if (!f->is_private) {
      EXPECT_EQ(Difference(*f, want, got), "") << f->name;
    }
  }
}

TEST(Asserts, SayValues) {
  const char* text = R"(module "values" func f(a: i64, b: i32) -> (o: i64[1]) {
  assert a < 10, IndexError "100% {}, then {}", a, b + 1i32
  o[0] = a
})";
  const IRModule module = Parse(text);
  EXPECT_TRUE(Equal(Parse(Print(module)), module));
  Array o(kI64, {1});
  const std::string expected = "IndexError: 100% 12, then -4";
  EXPECT_EQ(CatchMessage([&] { Interpret(module, "f", {Int(12), Int(-5), o.Value()}); }), expected);
  const Compiled compiled(module);
  EXPECT_EQ(compiled.Call("f", {Int(12), Int(-5), o.Value()}), expected);
  EXPECT_EQ(compiled.Call("f", {Int(9), Int(-5), o.Value()}), "");
}

TEST(Asserts, HaveAPlaceForEachValue) {
  const auto message = [](const std::string& rest) {
    return CatchMessage([&] { Parse("func f(a: i64, x: f32) -> () { assert a < 10, " + rest + " }"); });
  };
  EXPECT_EQ(message("\"{}\""), "");
  EXPECT_EQ(message("\"{} {}\", a"),
            "ValueError: line 1, column 32: assert: the message '{} {}' has 2 places {} for 1 values; expected as "
            "many, and 4 "
            "at most");
  EXPECT_EQ(message("\"{}{}{}{}{}\", a, a, a, a, a").find("ValueError: line 1, column 32: assert: the message"), 0u);
  EXPECT_EQ(message("\"{}\", x"),
            "TypeError: line 1, column 32: assert: expected integers as the message's values, got f32");
}

}  // namespace
}  // namespace ir_test
