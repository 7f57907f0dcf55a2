// KP_GRAD declarations that fit, and those that whoever loads the module must hear of.
#include <gtest/gtest.h>

#include <utility>

#include "table.h"

namespace {

using loader_test::NewTable;
using loader_test::Table;
using loader_test::TakeError;

int Nothing(void*, const KpAny*, int32_t, KpAny*) { return 0; }

// The error of loading a module whose function f has these backward ops, or "".
std::string Load(const char* forward, const std::vector<std::pair<const char*, const char*>>& backwards) {
  Table& table = NewTable();
  table.Add("f", Nothing).signature = forward;
  for (const auto& [name, signature] : backwards) {
    table.Add(name, Nothing).signature = signature;
    KpFunctionInfo& gradient = table.Add("f", nullptr);
    gradient.kind = KP_DEF_GRADIENT;
    gradient.target = name;
  }
  const KpLoadedModule* module = nullptr;
  return kp_module_adopt(table.Finish("gradients"), &module) == 0 ? "" : TakeError();
}

constexpr const char* kForward =
    "(x: T[..., D], w: T[D], y: T[D]?, n: i32[D], xs: list[T[D]], m!: T[D], *, k: int) -> (out: T[..., D], d_w: T[D]) "
    "where T in {f32, f64} with nondiff(xs, y)";

std::string LoadOne(const char* backward) { return Load(kForward, {{"g", backward}}); }

TEST(Gradients, ThatFit) {
  EXPECT_EQ(Load("(x: T[..., D], w: T[D], *, k: int) -> (y: T[..., D]) where T in {f32, f16}",
                 {{"g",
                   "(d_y: T[..., D], x: T[..., D], y: T[..., D], *, k: int, extra: int = 0) -> (d_x: T[..., D]) "
                   "where T in {f32, f64}"},
                  {"h", "(d_y: T[*S], w: T[D]) -> (d_w: T[D]) where T in any"}}),
            "");
}

TEST(Gradients, Names) {
  EXPECT_EQ(LoadOne("(d_out: T[..., D], z: T[D]) -> (d_x: T[..., D]) where T in {f32, f64}"),
            "ValueError: KP_GRAD: g: z: expected the name of a parameter or result of f (x, w, y, n, xs, m, k, out, "
            "d_w) or of "
            "a gradient (d_out, d_d_w)");
  EXPECT_EQ(
      LoadOne("(d_out: T[..., D]) -> (d_z: T[..., D]) where T in {f32, f64}"),
      "ValueError: KP_GRAD: g: result d_z: expected the gradient of a parameter of f (d_x, d_w, d_y, d_n, d_xs, d_m, "
      "d_k)");
  EXPECT_EQ(
      LoadOne("(d_w: T[D]) -> (d_x: T[D]) where T in {f32, f64}"),
      "ValueError: KP_GRAD: g: d_w: could be the result of f or the gradient of its parameter; rename the result");
}

TEST(Gradients, KindsAndShapes) {
  EXPECT_EQ(LoadOne("(x: f32[D], w: f32[D, D]) -> (d_x: f32[D], d_w: f32[D])"),
            "ValueError: KP_GRAD: g: w: its shape never fits f's, the parameter of that name");
  EXPECT_EQ(LoadOne("(w: i32[D]) -> (d_w: i32[D])"),
            "ValueError: KP_GRAD: g: w: its dtype never fits f's, the parameter of that name");
  EXPECT_EQ(LoadOne("(d_out: f32[]) -> (d_x: f32[3])"),
            "ValueError: KP_GRAD: g: d_out: its shape never fits f's, the result that it is the gradient of");
  EXPECT_EQ(LoadOne("(*, k: float) -> (d_x: f32[3])"), "ValueError: KP_GRAD: g: k: is of another kind than in f");
  EXPECT_EQ(LoadOne("(xs: f32[D]) -> (d_x: f32[D])"), "ValueError: KP_GRAD: g: xs: is of another kind than in f");
  EXPECT_EQ(LoadOne("(w: f32[D]) -> (d_w: f32[D, D])"),
            "ValueError: KP_GRAD: g: result d_w: its shape never fits that of w in f");
}

TEST(Gradients, WhatCannotBeSavedOrGiven) {
  EXPECT_EQ(LoadOne("(m: f32[D]) -> (d_x: f32[D])"),
            "ValueError: KP_GRAD: g: m: f writes to it, so that it cannot be saved for g");
  EXPECT_EQ(LoadOne("(y: f32[D]) -> (d_x: f32[D])"),
            "ValueError: KP_GRAD: g: y: may be None in f; expected it to be optional (?) here too");
  EXPECT_EQ(LoadOne("(w: f32[D]) -> (d_m: f32[D])"),
            "ValueError: KP_GRAD: g: result d_m: m of f is no tensor that can have a gradient");
}

// One call gives the gradient of one item.
TEST(Gradients, OfTheItemsOfAList) {
  const auto load = [](const char* backward) {
    return Load("(xs: list[f32[_, D]], k: int) -> (out: f32[D])", {{"g", backward}});
  };
  EXPECT_EQ(load("(d_out: f32[D], xs: list[f32[_, D]], xs_item: f32[N, D], xs_index: int) -> (d_xs: f32[N, D])"), "");
  EXPECT_EQ(load("(d_out: f32[D], xs_item: f32[D]) -> (d_xs: f32[D])"),
            "ValueError: KP_GRAD: g: xs_item: its shape never fits f's, the items of that list");
  EXPECT_EQ(load("(d_out: f32[D], xs_index: float) -> (d_xs: f32[3, D])"),
            "ValueError: KP_GRAD: g: xs_index: is the number of an item; expected an int");
  EXPECT_EQ(
      Load("(xs: list[f32[D]], w: f32[D]) -> (out: f32[D])",
           {{"g", "(d_out: f32[D], w: f32[D]) -> (d_xs: f32[D], d_w: f32[D])"}}),
      "ValueError: KP_GRAD: g: result d_xs: xs of f is a list, and g runs once for each of its items; expected no "
      "other result, move the others to a backward op of their own");
  EXPECT_EQ(Load("(xs: list[f32[D]], w: f32[D]) -> (out: f32[D])",
                 {{"g", "(d_out: f32[D], xs_item: f32[D]) -> (d_w: f32[D])"}}),
            "ValueError: KP_GRAD: g: xs_item: expected the name of a parameter or result of f (xs, w, out) or of a "
            "gradient (d_out)");
}

TEST(Gradients, EachParameterOnce) {
  EXPECT_EQ(
      LoadOne("(w: f32[D]) -> (d_w: f32[D])"),
      "ValueError: KP_GRAD: f: no backward op gives d_x; add it to one, or write `with nondiff(x)` in the signature if "
      "it has no gradient on purpose");
  EXPECT_EQ(Load("(x: f32[D]) -> (out: f32[D])",
                 {{"g", "(d_out: f32[D]) -> (d_x: f32[D])"}, {"h", "(d_out: f32[D]) -> (d_x: f32[D])"}}),
            "ValueError: KP_GRAD: f: g and h both give d_x; expected one of them");
}

}  // namespace
