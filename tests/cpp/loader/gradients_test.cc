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

TEST(Gradients, ThatFitAreAccepted) {
  EXPECT_EQ(Load("(x: T[..., D], w: T[D], *, k: int) -> (y: T[..., D]) where T in {f32, f16}",
                 {{"g",
                   "(d_y: T[..., D], x: T[..., D], y: T[..., D], *, k: int, extra: int = 0) -> (d_x: T[..., D]) "
                   "where T in {f32, f64}"},
                  {"h", "(d_y: T[*S], w: T[D]) -> (d_w: T[D]) where T in any"}}),
            "");
}

TEST(Gradients, RefusesUnknownNames) {
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

TEST(Gradients, RefusesOtherKindsAndShapes) {
  EXPECT_EQ(LoadOne("(x: f32[D], w: f32[D, D]) -> (d_x: f32[D], d_w: f32[D])"),
            "ValueError: KP_GRAD: g: w: its shape is incompatible with f's, the parameter of that name");
  EXPECT_EQ(LoadOne("(w: i32[D]) -> (d_w: i32[D])"),
            "ValueError: KP_GRAD: g: w: its dtype is incompatible with f's, the parameter of that name");
  EXPECT_EQ(LoadOne("(d_out: f32[]) -> (d_x: f32[3])"),
            "ValueError: KP_GRAD: g: d_out: its shape is incompatible with f's, the result that it is the gradient of");
  EXPECT_EQ(LoadOne("(*, k: float) -> (d_x: f32[3])"), "ValueError: KP_GRAD: g: k: its kind differs from that in f");
  EXPECT_EQ(LoadOne("(xs: f32[D]) -> (d_x: f32[D])"), "ValueError: KP_GRAD: g: xs: its kind differs from that in f");
  EXPECT_EQ(LoadOne("(w: f32[D]) -> (d_w: f32[D, D])"),
            "ValueError: KP_GRAD: g: result d_w: its shape is incompatible with that of w in f");
}

TEST(Gradients, RefusesWhatCannotBeSavedOrGiven) {
  EXPECT_EQ(LoadOne("(m: f32[D]) -> (d_x: f32[D])"),
            "ValueError: KP_GRAD: g: m: f writes to it, so that it cannot be saved for g");
  EXPECT_EQ(LoadOne("(y: f32[D]) -> (d_x: f32[D])"),
            "ValueError: KP_GRAD: g: y: may be None in f; expected it to be optional (?) here too");
  EXPECT_EQ(LoadOne("(w: f32[D]) -> (d_n: f32[D])"),
            "ValueError: KP_GRAD: g: result d_n: its dtype is incompatible with that of n in f");
  EXPECT_EQ(LoadOne("(w: f32[D]) -> (d_k: f32[D])"),
            "ValueError: KP_GRAD: g: result d_k: k of f isn't a tensor that can have a gradient");
}

TEST(Gradients, NoneGoesThroughWhatIsWrittenInPlace) {
  const std::string refused =
      "ValueError: KP_GRAD: f: m is written in place (m!), and no gradient goes through that; take it as an input and "
      "give what it becomes as a result, or write `with nondiff(m)` in the signature if it has no gradient on purpose "
      "(docs/patterns.md)";
  EXPECT_EQ(LoadOne("(w: f32[D]) -> (d_m: f32[D])"), refused);
  EXPECT_EQ(LoadOne("(d_m: f32[D]) -> (d_x: f32[D])"), refused);
  const char* backward = "(d_out: f32[D]) -> (d_x: f32[D])";
  EXPECT_EQ(Load("(x: f32[D], m!: f32[D]) -> (out: f32[D])", {{"g", backward}}), refused);
  EXPECT_EQ(Load("(x: f32[D], m!: list[f32[D]]) -> (out: f32[D])", {{"g", backward}}), refused);
  EXPECT_EQ(Load("(x: f32[D], m!: f32[D]) -> (out: f32[D]) with nondiff(m)", {{"g", backward}}), "");
  EXPECT_EQ(Load("(x: f32[D], m!: i32[D]) -> (out: f32[D])", {{"g", backward}}), "");
  EXPECT_EQ(Load("(x: f32[D], m!: i32[D]) -> ()", {{"g", "(x: f32[D]) -> (d_x: f32[D])"}}),
            "ValueError: KP_GRAD: f: has no result, so that no gradient ever arrives for g; give it one");
}

TEST(Gradients, MayTakeAShapeInPlaceOfATensor) {
  const auto load = [](const char* backward) {
    return Load("(x: f32[N, D], y: f32[D]? = None) -> (out: f32[D]) with nondiff(y)", {{"g", backward}});
  };
  EXPECT_EQ(load("(d_out: f32[D], x_shape: list[int]) -> (d_x: f32[x_shape[0], D])"), "");
  EXPECT_EQ(load("(d_out: f32[D], x_shape: int) -> (d_x: f32[x_shape, D])"),
            "ValueError: KP_GRAD: g: x_shape: is the shape of x; expected a list[int]");
  EXPECT_EQ(load("(d_out: f32[D], y_shape: list[int]) -> (d_x: f32[y_shape[0], D])"),
            "ValueError: KP_GRAD: g: y_shape: y may be None in f and has no shape then; take y itself, optional (?)");
  EXPECT_EQ(Load("(x: f32[N], k: int) -> (out: f32[])", {{"g", "(d_out: f32[], k_shape: list[int]) -> (d_x: f32[1])"}}),
            "ValueError: KP_GRAD: g: k_shape: expected the name of a parameter or result of f (x, k, out) or of a "
            "gradient (d_out)");
}

// One call gives the gradient of one item.
TEST(Gradients, MayBeTakenItemByItemOfAList) {
  const auto load = [](const char* backward) {
    return Load("(xs: list[f32[_, D]], k: int) -> (out: f32[D])", {{"g", backward}});
  };
  EXPECT_EQ(load("(d_out: f32[D], xs: list[f32[_, D]], xs_item: f32[N, D], xs_index: int) -> (d_xs: f32[N, D])"), "");
  EXPECT_EQ(load("(d_out: f32[D], xs_item: f32[D]) -> (d_xs: f32[D])"),
            "ValueError: KP_GRAD: g: xs_item: its shape is incompatible with f's, the items of that list");
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

TEST(Gradients, EachParameterHasExactlyOne) {
  EXPECT_EQ(
      LoadOne("(w: f32[D]) -> (d_w: f32[D])"),
      "ValueError: KP_GRAD: f: no backward op gives d_x; add it to one, or write `with nondiff(x)` in the signature if "
      "it has no gradient on purpose");
  EXPECT_EQ(Load("(x: f32[D]) -> (out: f32[D])",
                 {{"g", "(d_out: f32[D]) -> (d_x: f32[D])"}, {"h", "(d_out: f32[D]) -> (d_x: f32[D])"}}),
            "ValueError: KP_GRAD: f: g and h both give d_x; expected one of them");
}

TEST(Gradients, HaveAnUnderscoreWhereTheirNameIsTaken) {
  constexpr const char* forward = "(d_y: f32[N], y: f32[N]) -> (d_x: f32[N])";
  EXPECT_EQ(Load(forward, {{"g", "(d_d_x: f32[N], d_y: f32[N], y: f32[N]) -> (d_d_y: f32[N], d_y_: f32[N])"}}), "");
  EXPECT_EQ(Load(forward, {{"g", "(d_d_x: f32[N], y: f32[N]) -> (d_d_y: f32[N], d_y: f32[N])"},
                           {"h", "(d_d_x: f32[N]) -> (d_y_: f32[N])"}}),
            "ValueError: KP_GRAD: f: g and h both give d_y; expected one of them");
  EXPECT_EQ(
      LoadOne("(x: f32[D]) -> (d_x__: f32[D])"),
      "ValueError: KP_GRAD: g: result d_x__: expected the gradient of a parameter of f (d_x, d_w, d_y, d_n, d_xs, "
      "d_m, d_k)");
}

TEST(Gradients, MustTakeAsOptionalWhatIsOptional) {
  constexpr const char* forward = "(x: f32[N], w: f32[N]?) -> (y: f32[N])";
  EXPECT_EQ(
      Load(forward, {{"g", "(d_y: f32[N]) -> (d_x: f32[N])"}, {"h", "(d_y: f32[N], w: f32[N]) -> (d_w: f32[N])"}}), "");
  EXPECT_EQ(Load(forward, {{"g", "(d_y: f32[N], w: f32[N]) -> (d_x: f32[N], d_w: f32[N])"}}),
            "ValueError: KP_GRAD: g: w: may be None in f; expected it to be optional (?) here too");
}

// Ranks and dtypes that could agree don't suffice: in each call the gradient has the shape and dtype of its parameter.
TEST(Gradients, HaveTheShapeOfTheirParameterInEveryCall) {
  EXPECT_EQ(Load("(x: f32[N]) -> (out: f32[N])", {{"g", "(d_out: f32[N], x: f32[N]) -> (d_x: f32[1])"}}),
            "ValueError: KP_GRAD: g: result d_x: expected the shape of x in f, [N], got [1]: where x is [5], d_x would "
            "be [1]; give d_x the dims of x");
  EXPECT_EQ(Load("(x: f32[M, K], w: f32[K, N]) -> (out: f32[M, N])",
                 {{"g", "(d_out: f32[M, N], x: f32[M, K], w: f32[K, N]) -> (d_x: f32[K, M], d_w: f32[K, N])"}}),
            "ValueError: KP_GRAD: g: result d_x: expected the shape of x in f, [M, K], got [K, M]: where x is [5, 7], "
            "d_x would be [7, 5]; give d_x the dims of x");
  EXPECT_EQ(Load("(x: f32[..., D], w: f32[D]) -> (out: f32[..., D])",
                 {{"g", "(d_out: f32[..., D], x: f32[..., D]) -> (d_x: f32[..., D], d_w: f32[..., D])"}}),
            "ValueError: KP_GRAD: g: result d_w: expected the shape of w in f, [D], got [..., D]: where w is [5], d_w "
            "would be [2, 5]; give d_w the dims of w");
  EXPECT_EQ(
      Load("(x: f32[N], k: int) -> (out: f32[N * k]) where k > 0",
           {{"g", "(d_out: f32[M], k: int) -> (d_x: f32[ceildiv(M, k + 1)])"}}),
      "ValueError: KP_GRAD: g: result d_x: expected the shape of x in f, [N], got [ceildiv(M, k + 1)]: where x is [5], "
      "d_x would be [4]; give d_x the dims of x");
}

TEST(Gradients, HaveTheDTypeOfTheirParameterInEveryCall) {
  constexpr const char* forward =
      "(x: T[N], w: W[N]) -> (out: T[N]) where T in {f32, f64}, W in {f32, f64} with nondiff(x)";
  EXPECT_EQ(Load(forward, {{"g", "(d_out: T[N], w: W[N]) -> (d_w: W[N]) where T in {f32, f64}, W in {f32, f64}"}}), "");
  EXPECT_EQ(Load(forward, {{"g", "(d_out: T[N], w: W[N]) -> (d_w: T[N]) where T in {f32, f64}, W in {f32, f64}"}}),
            "ValueError: KP_GRAD: g: result d_w: expected the dtype of w in f: where w is f64, d_w would be f32; give "
            "d_w the dtype of w");
}

TEST(Gradients, TakeWhatTheForwardOpGives) {
  constexpr const char* forward = "(x: f32[N, D]) -> (out: f32[N, D])";
  EXPECT_EQ(
      Load(forward, {{"g", "(d_out: f32[N, 1], x: f32[N, D]) -> (d_x: f32[N, D])"}}),
      "ValueError: KP_GRAD: g doesn't fit the calls of f: one of them would end in \"g: d_out: expected shape [N, "
      "1], got [5, 7]\"; give its parameter the dims that the tensor has in f");
  EXPECT_EQ(Load(forward, {{"g", "(d_out: f32[D, N], x: f32[N, D]) -> (d_x: f32[N, D])"}}),
            "ValueError: KP_GRAD: g doesn't fit the calls of f: one of them would end in \"g: x: expected shape [N, D] "
            "with N = 7 (bound by d_out), got [5, 7]\"; give its parameter the dims that the tensor has in f");
}

// An op whose backward op takes fewer calls is fine: the others are refused when they are made.
TEST(Gradients, MayAllowFewerCallsThanTheForwardOp) {
  constexpr const char* forward = "(x: T[..., D]) -> (out: T[..., D]) where T in {f32, f64, f16}";
  EXPECT_EQ(Load(forward, {{"g", "(d_out: f32[N, D]) -> (d_x: f32[N, D])"}}), "");
  EXPECT_EQ(Load(forward, {{"g", "(d_out: T[A, B, C, D]) -> (d_x: T[A, B, C, D]) where T in {f16}"}}), "");
  EXPECT_EQ(Load(forward, {{"g", "(d_out: T[..., D]) -> (d_x: T[..., D]) where T in {f64}, D == 1000"}}), "");
}

TEST(Gradients, FollowConditionsExpressionsAndDefaults) {
  EXPECT_EQ(Load("(x: f32[N, D], idx: i32[E], ends: i32[E + 1], *, group: int = 128, steps: list[int], mode: str in "
                 "{\"a\", \"b\"}) "
                 "-> (q: f32[N, D], scale: f32[N, D // group]) where D % group == 0, 0 < steps[0] <= E",
                 {{"g",
                   "(d_q: f32[N, D], d_scale: f32[N, G], x_shape: list[int], idx: i32[F], *, group: int, steps: "
                   "list[int], mode: str, extra: list[int] = [1, 2]) -> (d_x: f32[N, G * group])"}}),
            "");
  EXPECT_EQ(
      Load("(x: f32[..., H, D], y: f32[~..., H, D], z: f32[*S, G]) -> (out: f32[..., H, D]) where H % G == 0 with "
           "nondiff(z)",
           {{"g", "(d_out: f32[*S], z: f32[..., G]) -> (d_x: f32[*S])"},
            {"h", "(d_out: f32[..., H, D], y: f32[*S]) -> (d_y: f32[*S])"}}),
      "");
}

TEST(Gradients, OfSwappedOpsAreSeen) {
  Table& table = NewTable();
  table.Add("f", Nothing).signature = "(x: f32[N]) -> (out: f32[N])";
  table.Add("g", Nothing).signature = "(d_out: f32[N], x: f32[N]) -> (d_x: f32[N])";
  KpFunctionInfo& gradient = table.Add("g", nullptr);
  gradient.kind = KP_DEF_GRADIENT;
  gradient.target = "f";
  const KpLoadedModule* module = nullptr;
  ASSERT_NE(kp_module_adopt(table.Finish("swapped"), &module), 0);
  EXPECT_EQ(TakeError(),
            "ValueError: KP_GRAD(g, f): expected the forward op first, but g gives d_x, a gradient of f; write "
            "KP_GRAD(f, g)");
}

// The same for the op that computes f's tangents.
std::string LoadTangents(const char* forward, const std::vector<std::pair<const char*, const char*>>& tangents) {
  Table& table = NewTable();
  table.Add("f", Nothing).signature = forward;
  for (const auto& [name, signature] : tangents) {
    table.Add(name, Nothing).signature = signature;
    KpFunctionInfo& jvp = table.Add("f", nullptr);
    jvp.kind = KP_DEF_JVP;
    jvp.target = name;
  }
  const KpLoadedModule* module = nullptr;
  return kp_module_adopt(table.Finish("tangents"), &module) == 0 ? "" : TakeError();
}

TEST(Tangents, ThatFitAreAccepted) {
  EXPECT_EQ(
      LoadTangents("(x: T[..., D], w: T[D]?, xs: list[T[_]], n: i32[D], *, k: int) -> (y: T[..., D], s: T[...] aux, "
                   "i: i64[D]) where T in {f32, f16}",
                   {{"t",
                     "(t_x: T[..., D], t_w: T[D]?, t_xs: list[T[_]], x: T[..., D], w: T[D]?, y: T[..., D], "
                     "s: T[...], n: i32[D], *, k: int, extra: int = 0) -> (t_y: T[..., D]) where T in {f32, f64}"}}),
      "");
  EXPECT_EQ(LoadTangents("(x: f32[D], w: f32[D]) -> (y: f32[D]) with nondiff(w)",
                         {{"t", "(w: f32[D], t_x: f32[D]?) -> (t_y: f32[D])"}}),
            "");
}

constexpr const char* kScale = "(x: f32[..., D], w: f32[D]?, n: i32[]) -> (y: f32[..., D], s: f32[..., D] aux)";

std::string LoadTangent(const char* tangent) { return LoadTangents(kScale, {{"t", tangent}}); }

TEST(Tangents, NamesMustBelongToTheForwardOp) {
  EXPECT_EQ(LoadTangent("(t_x: f32[..., D], t_w: f32[D]?, z: f32[D]) -> (t_y: f32[..., D])"),
            "ValueError: KP_JVP: t: z: expected the name of a parameter or result of f (x, w, n, y, s) or of a tangent "
            "(t_x, t_w, t_n)");
  EXPECT_EQ(LoadTangent("(t_x: f32[..., D], t_w: f32[D]?) -> (t_z: f32[..., D])"),
            "ValueError: KP_JVP: t: result t_z: expected the tangent of a floating-point result of f (t_y, t_s)");
  EXPECT_EQ(LoadTangent("(t_x: f32[..., D], t_w: f32[D]?, t_n: f32[]) -> (t_y: f32[..., D])"),
            "ValueError: KP_JVP: t: t_n: n of f isn't a tensor that can have a tangent");
}

TEST(Tangents, ShapesKindsAndNoneMustFit) {
  EXPECT_EQ(LoadTangent("(t_x: f32[..., D], t_w: f32[D, D]?) -> (t_y: f32[..., D])"),
            "ValueError: KP_JVP: t: t_w: its shape is incompatible with f's, the parameter that it is the tangent of");
  EXPECT_EQ(LoadTangent("(t_x: f64[..., D], t_w: f32[D]?) -> (t_y: f32[..., D])"),
            "ValueError: KP_JVP: t: t_x: its dtype is incompatible with f's, the parameter that it is the tangent of");
  EXPECT_EQ(LoadTangent("(t_x: list[f32[..., D]], t_w: f32[D]?) -> (t_y: f32[..., D])"),
            "ValueError: KP_JVP: t: t_x: its kind differs from that in f");
  EXPECT_EQ(LoadTangent("(t_x: f32[..., D], t_w: f32[D]) -> (t_y: f32[..., D])"),
            "ValueError: KP_JVP: t: t_w: w may be None in f; expected its tangent to be optional (?) too");
  EXPECT_EQ(LoadTangent("(t_x: f32[..., D], t_w: f32[D]?) -> (t_y: f64[..., D])"),
            "ValueError: KP_JVP: t: result t_y: its dtype is incompatible with that of y in f");
}

TEST(Tangents, HaveTheShapeAndDTypeOfTheirResultInEveryCall) {
  EXPECT_EQ(LoadTangents("(x: f32[N], w: f32[N]) -> (y: f32[N])",
                         {{"t", "(x: f32[N], t_x: f32[N], t_w: f32[N]) -> (t_y: f32[1])"}}),
            "ValueError: KP_JVP: t: result t_y: expected the shape of y in f, [N], got [1]: where y is [5], t_y would "
            "be [1]; give t_y the dims of y");
  EXPECT_EQ(
      LoadTangents("(x: f32[N, D]) -> (y: f32[N])", {{"t", "(x: f32[N, D], t_x: f32[D, N]) -> (t_y: f32[N])"}}),
      "ValueError: KP_JVP: t doesn't fit the calls of f: one of them would end in \"t: t_x: expected shape [D, N] "
      "with D = 7 (bound by x), got [5, 7]\"; give its parameter the dims that the tensor has in f");
  EXPECT_EQ(LoadTangents("(t_x: f32[N], x: f32[N]) -> (t_y: f32[N]) with nondiff(t_x, x)",
                         {{"t", "(x: f32[N]) -> (y: f32[N])"}}),
            "ValueError: KP_JVP(f, t): expected the forward op first, but f gives t_y, a tangent of t; write KP_JVP(t, "
            "f)");
}

TEST(Tangents, AreTakenAndGivenCompletely) {
  EXPECT_EQ(
      LoadTangent("(t_x: f32[..., D]) -> (t_y: f32[..., D])"),
      "ValueError: KP_JVP: t: expected a parameter t_w, the tangent of f's w; add it, or write `with nondiff(w)` in "
      "the signature of f if it has no derivative on purpose");
  EXPECT_EQ(LoadTangent("(t_x: f32[..., D], t_w: f32[D]?) -> (t_s: f32[..., D])"),
            "ValueError: KP_JVP: t: expected a result t_y, the tangent of f's result y");
}

TEST(Tangents, OfAnOpThatWritesInPlaceAndTwiceAreRefused) {
  EXPECT_EQ(
      LoadTangents("(x!: f32[D]) -> (y: f32[D])", {{"t", "(t_x: f32[D]) -> (t_y: f32[D])"}}),
      "ValueError: KP_JVP: f: x is written in place, and a tangent op cannot follow that; give f a result instead");
  EXPECT_EQ(LoadTangents("(x: f32[D]) -> (y: f32[D])",
                         {{"t", "(t_x: f32[D]) -> (t_y: f32[D])"}, {"u", "(t_x: f32[D]) -> (t_y: f32[D])"}}),
            "ValueError: kernpack.load: '<embedded>': KP_JVP: t and u both compute the tangents of f; keep one");
}

}  // namespace
