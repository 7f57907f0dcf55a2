// "N...", an extent that stands for all leading dimensions of a tensor: written, verified, interpreted and generated as C.
#include "ir/any_rank.h"

#include <kernpack/sdk/codegen/signature.h>
#include <kernpack/sdk/ir/builder.h>
#include <kernpack/sdk/ir/equal.h>
#include <kernpack/sdk/ir/verify.h>
#include <kernpack/sdk/schedule/schedule.h>

namespace ir_test {
namespace {

constexpr const char* kText =
    R"(func f(x: f32[N..., D], seen!: i32[N...], w: f32[D]) -> (o: f32[N..., D], p: f32[N..., D * 2]) {
  for i in 0..N {
    o[i, 0] = x[i, 0]
  }
}
)";

TEST(IrAnyRank, IsPrintedAndReadBack) {
  const IRModule m = Parse(kText);
  EXPECT_EQ(Print(*m.functions[0]), kText);
  EXPECT_TRUE(Equal(m, Parse(Print(m))));
  EXPECT_EQ(CatchMessage([&] { Verify(m); }), "");
}

TEST(IrAnyRank, IsPartOfWhatAFunctionIs) {
  const IRModule one = Parse("func f(x: f32[N...]) -> () { }"), other = Parse("func f(x: f32[N]) -> () { }");
  EXPECT_FALSE(Equal(one, other));
  EXPECT_NE(Hash(one), Hash(other));
}

TEST(IrAnyRank, IsTheBatchOfTheSignature) {
  EXPECT_EQ(DeriveSignature(*Parse(kText).functions[0]),
            "(x: f32[..., D], seen!: i32[...], w: f32[D]) -> (o: f32[..., D], p: f32[..., (D * 2)])");
}

TEST(IrAnyRank, IsWrittenByBothBuilders) {
  FunctionBuilder f("f");
  const Expr n = f.Dim("N...");
  const Buffer x = f.Input("x", kF32, {n}), o = f.Result("o", kF32, {n});
  f.For("i", Expr(0), n, [&](const Expr& i) { f.Store(o, {i}, Load(x, {i})); });
  EXPECT_EQ(DeriveSignature(*f.Finish()), "(x: f32[...]) -> (o: f32[...])");
  StageBuilder p("f");
  const Expr m = p.Dim("N...");
  const Buffer y = p.Input("x", kF32, {m});
  p.Result(p.Compute("o", {m}, [&](const StageBuilder::Axes& i) { return Load(y, i); }));
  EXPECT_EQ(DeriveSignature(*Schedule(p.Finish()).Lower()), "(x: f32[...]) -> (o: f32[...])");
}

struct Fault {
  const char* text;
  const char* message;
};
void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.text; }

class IrAnyRankFault : public testing::TestWithParam<Fault> {};
TEST_P(IrAnyRankFault, IsSaid) {
  EXPECT_EQ(CatchMessage([&] { Verify(Parse(GetParam().text)); }),
            std::string("ValueError: line 1, ") + GetParam().message);
}
INSTANTIATE_TEST_SUITE_P(
    Texts, IrAnyRankFault,
    testing::Values(
        Fault{"func f(x: f32[...]) -> () { }",
              "column 15: any number of dimensions is written as a name and '...', as in [N...]"},
        Fault{"func f(x: f32[*S]) -> () { }",
              "column 15: any number of dimensions is written as a name and '...', as in [N...]"},
        Fault{"func f(x: f32[N...], y: f32[N]) -> () { }",
              "column 29: 'N' stands for any number of dimensions: write 'N...'"},
        Fault{"func f(x: f32[N], y: f32[N...]) -> () { }",
              "column 27: '...' follows a name that isn't used elsewhere, as in [N...]"},
        Fault{"func f(x: f32[8...]) -> () { }",
              "column 16: '...' follows a name that isn't used elsewhere, as in [N...]"},
        Fault{"func f(x: f32[D, N...]) -> () { }",
              "column 8: f: x: 'N...' stands for any number of dimensions: it can only be the first extent, alone"},
        Fault{"func f(x: f32[N...]) -> (o: f32[N * 2]) { }",
              "column 26: f: o: 'N...' stands for any number of dimensions: it can only be the first extent, alone"},
        Fault{"func f(x: f32[N...], y: f32[M...]) -> () { }",
              "column 22: f: y: a function has one set of leading dimensions, 'N...', not 'M...' as well"},
        Fault{"func f() -> (o: f32[N...]) { }",
              "column 21: no parameter binds 'N': it must stand alone as an extent of one"}),
    [](const auto& info) { return "Text_" + std::to_string(info.index); });

TEST(IrAnyRank, OfAnInnerCallIsTheExtent) {
  const char* text =
      R"ir(private func inner(x: f32[N..., D]) -> (o: f32[N..., D]) {
        for i in 0..N {
          for j in 0..D {
            o[i, j] = x[i, j]
          }
        }
      }
      func outer(x: f32[A, B]) -> (o: f32[A, B]) {
        call inner(x, o)
      })ir";
  Array x = Array::Of<float>(kF32, {2, 2}, {1, 2, 3, 4});
  for (const Runner& run : {Interpreted(Parse(text)), CompiledColumn("c").compile(Parse(text))}) {
    Array o(kF32, {2, 2});
    EXPECT_EQ(run("outer", {x.Value(), o.Value()}), "");
    EXPECT_EQ(o.bytes, x.bytes);
  }
}

TEST(IrAnyRank, RunsInTheInterpreter) { ExpectAnyRank(Interpreted(AnyRankModule("any_rank"))); }
TEST(IrAnyRank, RunsAsC) { ExpectAnyRank(CompiledColumn("c").compile(AnyRankModule("any_rank_c"))); }

TEST(IrAnyRank, NamesTheDimensionsThatDiffer) {
  Array x(kF32, {2, 3}), o(kF32, {3, 2});
  EXPECT_EQ(Interpreted(AnyRankModule("any_rank"))("scale", {x.Value(), Float(1), o.Value()}),
            "ValueError: scale: o: expected leading dimensions [2, 3], as those of x, got [3, 2]");
}

}  // namespace
}  // namespace ir_test
