// Which index maps the verifier finds different in every iteration of a loop: those that it should, and none that is not.
#include <kernpack/sdk/ir/verify.h>

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>

#include "support.h"

namespace ir_test {
namespace {

std::string CatchRefusal(const std::string& text) {
  return CatchMessage([&] { Verify(Parse(text)); });
}

class IrInjective : public testing::TestWithParam<const char*> {};
TEST_P(IrInjective, IsProved) { EXPECT_EQ(CatchRefusal(GetParam()), "") << GetParam(); }

INSTANTIATE_TEST_SUITE_P(
    QuotientsAndRemainders, IrInjective,
    testing::Values(
        "func f(o!: f32[A, B]) -> () { parallel f in 0..A * B { o[f / B, f % B] = 1.0 } }",
        "func f(o!: f32[A, B]) -> () { parallel f in 0..A * B { o[floordiv(f, B), floormod(f, B)] = 1.0 } }",
        "func f(o!: f32[A, B]) -> () { vectorized(4) f in 0..A * B { o[floordiv(f, B), f % B] = 1.0 } }",
        "func f(o!: f32[N], a: f32[A], b: f32[B]) -> () { parallel f in 0..A * B { o[f / B * B + f % B] = 1.0 } }",
        "func f(o!: f32[N], a: f32[A], b: f32[B]) -> () { parallel f in 0..A * B { o[f % B * A + f / B] = 1.0 } }",
        "func f(o!: f32[A, B, C]) -> () { parallel f in 0..A * B * C { o[f / (B * C), f / C % B, f % C] = 1.0 } }",
        "func f(o!: f32[A, B, C]) -> () { parallel f in 0..A * B * C { o[f / C / B, f % (B * C) / C, f % C] = 1.0 } }",
        "func f(o!: f32[A, 4]) -> () { parallel i in 0-3..A { o[i / 2 + 8, i % 2 + 1] = 1.0 } }",
        "func f(o!: f32[A, 4]) -> () { parallel i in 0-3..A { o[floordiv(i, 2) + 8, floormod(i, 2)] = 1.0 } }",
        // The tiles of a batch of products.
        R"ir(func f(o!: f32[B, M, N]) -> () {
          parallel f in 0..B * ((N + 63) / 64) * ((M + 11) / 12) {
            let t = f / ((M + 11) / 12)
            let i = f % ((M + 11) / 12)
            let q = t / ((N + 63) / 64)
            let j = t % ((N + 63) / 64)
            for y in 0..12 {
              for x in 0..64 {
                o[q, i * 12 + y, j * 64 + x] = 1.0
              }
            }
          }
        })ir",
        R"ir(func f(o!: f32[B, N]) -> () {
          parallel f in 0..max(B * ((N + 63) / 64), 0) {
            for x in 0..64 {
              o[f / ((N + 63) / 64), f % ((N + 63) / 64) * 64 + x] = 1.0
            }
          }
        })ir",
        R"ir(func f(o!: f32[M, N]) -> () {
          let t = (N + 7) / 8
          parallel f in 0..M * t {
            for x in 0..8 {
              o[f / t, f % t * 8 + x] = 1.0
            }
          }
        })ir"));

INSTANTIATE_TEST_SUITE_P(
    Splits, IrInjective,
    testing::Values(
        R"ir(func f(o!: f32[N]) -> () {
          parallel i in 0..(N + 7) / 8 {
            for j in 0..8 {
              let k = i * 8 + j
              if k < N {
                o[k] = 1.0
              }
            }
          }
        })ir",
        "func f(o!: f32[N, S]) -> () { parallel i in 0..N { for j in 0..S { if S > 0 { o[i, j] = o[i, j] + 1.0 } } } }",
        R"ir(func f(o!: f32[N, 8]) -> () {
          parallel i in 0..N {
            for j in 0..8 {
              o[(i * 8 + j) / 8, (i * 8 + j) % 8] = 1.0
            }
          }
        })ir",
        R"ir(func f(o!: f32[N]) -> () {
          parallel q in 0..(N + 63) / 64 {
            for j in 0..min(64, N - q * 64) {
              o[q * 64 + j] = 1.0
            }
          }
        })ir",
        // A part of a split that was fused again: the loop outside it goes in steps of eight.
        "func f(o!: f32[N, J]) -> () { parallel f in 0..8 * J { for i in 0..N { o[i * 8 + f / J, f % J] = 1.0 } } }",
        // Lanes of four, each in a panel of its own.
        "func f(o!: f32[N]) -> () { parallel i in 0..N { for j in 0..4 { o[i * 4 + j / 2 * 2 + j % 2] = 1.0 } } }"));

INSTANTIATE_TEST_SUITE_P(
    SeveralAccesses, IrInjective,
    testing::Values(
        "func f(o!: f32[N], x: f32[E]) -> () { vectorized(4) e in 0..E { o[e] = x[e] o[e + E] = x[e] } }",
        "func f(o!: f32[N], x: f32[E]) -> () { vectorized(4) e in 0..E { o[e] = o[e + E] o[e + 2 * E] = x[e] } }",
        "func f(o!: f32[N]) -> () { vectorized(4) e in 0..16 { o[e] = 1.0 o[e + 16] = 1.0 } }",
        "func f(o!: f32[N]) -> () { parallel e in 0..N { o[2 * e] = 1.0 o[2 * e + 1] = 1.0 } }",
        R"ir(func f(o!: f32[N], x: f32[E]) -> () {
          parallel e in 0..E {
            for k in 0..N {
              o[k * 2 * E + e] = x[e]
              o[k * 2 * E + E + e] = x[e]
            }
          }
        })ir",
        "func f(o!: f32[N, 2]) -> () { parallel e in 0..N { o[e, 0] = 1.0 o[e, 1] = o[e, 0] } }"));

INSTANTIATE_TEST_SUITE_P(
    ShiftedRoundAndFlippedBits, IrInjective,
    testing::Values(
        "func f(o!: f32[N]) -> () { parallel i in 0..N { o[(i + 1) % N] = 1.0 } }",
        "func f(o!: f32[N], s: i64) -> () { parallel i in 0..N { o[floormod(i + s, N)] = 1.0 } }",
        "func f(o!: f32[N], s: i64) -> () { vectorized(4) i in 0..N { o[floormod(s - i, N)] = 1.0 } }",
        "func f(o!: f32[N, D]) -> () { parallel i in 0..N { for j in 0..D { o[(i + 3) % N, j] = 1.0 } } }",
        "func f(o!: f32[N]) -> () { parallel i in 0..N { o[i ^ 1] = 1.0 } }",
        "func f(o!: f32[N]) -> () { parallel i in 0..N { o[5 ^ i] = 1.0 } }",
        "func f(o!: f32[N, D]) -> () { parallel i in 0..N { for j in 0..D { o[i ^ 4, j ^ 1] = 1.0 } } }",
        // An input says nothing of where a result is written, whatever its index does to the loop's variable.
        "func f(o!: f32[N], x: f32[N]) -> () { parallel i in 0..N { o[i] = x[(i % 8) % N] } }",
        "func f(o!: f32[N], x: f32[N]) -> () { parallel i in 0..N { o[i] = x[floormod(floormod(i, 8), N)] } }",
        "func f(o!: f32[N], x: f32[N]) -> () { parallel i in 0..N { let k = i % 8 let m = k % N o[i] = x[m] } }",
        "func f(o!: f32[N], x: f32[N]) -> () { parallel i in 0..N { let m = i * 2 let k = i % 8 % N o[m] = x[k] } }"));

class IrNotInjective : public testing::TestWithParam<const char*> {};
TEST_P(IrNotInjective, IsRefused) {
  EXPECT_NE(CatchRefusal(GetParam()).find("may touch the same elements of 'o'"), std::string::npos) << GetParam();
}
INSTANTIATE_TEST_SUITE_P(
    All, IrNotInjective,
    testing::Values(
        "func f(o!: f32[A, B]) -> () { parallel f in 0..A * B { o[f / B, f % A] = 1.0 } }",
        "func f(o!: f32[A, B]) -> () { parallel f in 0..A * B { o[f / B, 0] = 1.0 } }",
        "func f(o!: f32[A, B]) -> () { parallel f in 0..A * B { o[0, f % B] = 1.0 } }",
        "func f(o!: f32[A, B]) -> () { parallel f in 0..A { o[f / B, f % B] = 1.0 } }",  // B may be 0
        "func f(o!: f32[A, B]) -> () { parallel f in 0..A { o[floordiv(f, 0), floormod(f, 0)] = 1.0 } }",
        "func f(o!: f32[N]) -> () { parallel i in 0..N + 1 { o[(i + 1) % N] = 1.0 } }",
        "func f(o!: f32[N]) -> () { parallel i in 0..N { o[(2 * i) % N] = 1.0 } }",
        "func f(o!: f32[N]) -> () { parallel i in 0..N { o[(i + 1) % N] = o[i] } }",
        "func f(o!: f32[N]) -> () { parallel i in 0..N { for j in 0..2 { o[(i + j) % N] = 1.0 } } }",
        "func f(o!: f32[N]) -> () { parallel i in 0..N { o[i ^ 1] = o[i] } }",
        "func f(o!: f32[N], k: i64) -> () { parallel i in 0..N { o[i & 6] = 1.0 } }",
        "func f(o!: f32[N]) -> () { parallel i in 0..N { let k = i / 2 let m = k o[m] = 1.0 } }",
        "func f(o!: f32[N], x: f32[E]) -> () { vectorized(4) e in 0..E { o[e] = x[e] o[e + E - 1] = x[e] } }",
        "func f(o!: f32[N], x: f32[E]) -> () { vectorized(4) e in 0..E + 1 { o[e] = x[e - 1] o[e + E] = 1.0 } }",
        "func f(o!: f32[N]) -> () { parallel i in 0-1..2 { o[i / 2] = 1.0 } }",
        "func f(o!: f32[N]) -> () { parallel i in 0..N { o[i / 2 + i % 2] = 1.0 } }",
        "func f(o!: f32[N]) -> () { parallel i in 0..300 { o[i64(u8(i))] = 1.0 } }",
        "func f(o!: f32[N, J]) -> () { parallel f in 0..9 * J { for i in 0..N { o[i * 8 + f / J, f % J] = 1.0 } } }",
        "func f(o!: f32[N]) -> () { parallel q in 0..N { for j in 0..max(64, N - q * 64) { o[q * 64 + j] = 1.0 } } }",
        "func f(o!: f32[N]) -> () { parallel i in 0..N { for j in 0..i { o[i * 3 + j] = 1.0 } } }"));

// Loops and stores whose indices are drawn, and what they touch.
class RandomMap {
 public:
  explicit RandomMap(uint64_t seed) : engine_(seed) {}

  std::string Text() {
    const std::string begin = Below(6) ? "0" : "0-2";
    std::string text = "func f(o!: f32[N" + std::string(Below(2) ? ", N" : "") + "], a: f32[A], b: f32[B]) -> () { ";
    const bool two = text.find(", N]") != std::string::npos;
    text += "parallel f in " + begin + ".." +
            Of({"A", "A * B", "A * 2", "4", "6", "(A + 1) / 2 * B", "max(A * B, 0)"}) + " { ";
    const bool inner = Below(2);
    if (inner) text += "for j in 0.." + Of({"B", "2", "3", "A", "f", "min(2, A - f)"}) + " { ";
    const int stores = 1 + Below(2);
    for (int i = 0; i < stores; ++i) text += "o[" + Index(inner) + (two ? ", " + Index(inner) : "") + "] = 1.0 ";
    return text + (inner ? "} } }" : "} }");
  }

 private:
  std::mt19937_64 engine_;

  int Below(int n) { return static_cast<int>(engine_() % static_cast<uint64_t>(n)); }
  std::string Of(std::initializer_list<const char*> all) {
    return *(all.begin() + Below(static_cast<int>(all.size())));
  }

  std::string Base(bool inner) {
    const std::string plain = inner && Below(3) == 0 ? "j" : "f";
    if (inner && Below(5) == 0) return "(f * " + Of({"2", "3", "B"}) + " + j)";
    return Below(8) ? plain : "(" + plain + " + " + Of({"1", "2", "B"}) + ")";
  }
  std::string Part(bool inner) {
    const std::string by = Of({"2", "3", "A", "B", "B", "A * B", "(A + 1)"}), other = Of({"2", "A", "B"});
    const std::string x = Base(inner);
    switch (Below(10)) {
      case 6:
        return "(" + x + " ^ " + Of({"1", "2", "3", "5"}) + ")";
      case 0:
        return "(" + x + " / (" + by + "))";
      case 1:
        return "(" + x + " % (" + by + "))";
      case 2:
        return "floordiv(" + x + ", " + by + ")";
      case 3:
        return "floormod(" + x + ", " + by + ")";
      case 4:
        return "(" + x + " / (" + by + ") % (" + other + "))";
      case 5:
        return "(" + x + " % (" + by + ") / (" + other + "))";
      default:
        return x;
    }
  }
  std::string Index(bool inner) {
    std::string text = Part(inner);
    for (int terms = Below(3); terms; --terms)
      text += Of({" + ", " + ", " - "}) + Part(inner) + " * (" + Of({"1", "2", "3", "A", "B", "2 * B"}) + ")";
    return Below(4) ? text : text + " + " + Of({"1", "A", "A * B"});
  }
};

int64_t Quotient(int64_t a, int64_t b, bool floors) {
  if (b == 0) return 0;
  return a / b - (floors && a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// Runs the loop and says which elements each iteration touches.
class Touched {
 public:
  Touched(const FuncNode& f, int64_t a, int64_t b) {
    for (const Var& v : ShapeVars(f)) values_[v.get()] = v->name == "A" ? a : v->name == "B" ? b : 100;
    const StmtNode& loop = *f.body[0];
    const int64_t end = Value(loop.args[1]);
    for (int64_t i = Value(loop.args[0]); i < end; ++i) {
      values_[loop.var.get()] = i;
      elements_.clear();
      Run(loop.body);
      for (const std::vector<int64_t>& e : elements_) meets = meets || !all_.insert(e).second;
    }
  }
  bool meets = false;

 private:
  std::map<const VarNode*, int64_t> values_;
  std::set<std::vector<int64_t>> elements_, all_;

  void Run(const Block& block) {
    for (const Stmt& s : block) {
      if (s->kind == StmtKind::kFor) {
        const int64_t end = Value(s->args[1]);
        for (int64_t i = Value(s->args[0]); i < end; ++i) {
          values_[s->var.get()] = i;
          Run(s->body);
        }
        continue;
      }
      std::vector<int64_t> element;
      for (size_t d = 0; d + 1 < s->args.size(); ++d) element.push_back(Value(s->args[d]));
      elements_.insert(std::move(element));
    }
  }
  int64_t Value(const Expr& e) const {
    int64_t constant = 0;
    if (IsConstInt(e, &constant)) return constant;
    if (e->op == Op::kVar) return values_.at(e->var().get());
    const int64_t a = Value(e->args[0]), b = Value(e->args[1]);
    switch (e->op) {
      case Op::kAdd:
        return a + b;
      case Op::kSub:
        return a - b;
      case Op::kMul:
        return a * b;
      case Op::kXor:
        return a ^ b;
      case Op::kMin:
        return std::min(a, b);
      case Op::kMax:
        return std::max(a, b);
      case Op::kDiv:
      case Op::kFloorDiv:
        return Quotient(a, b, e->op == Op::kFloorDiv);
      default:
        return b == 0 ? 0 : a - b * Quotient(a, b, e->op == Op::kFloorMod);
    }
  }
};

// KERNPACK_DIFFERENTIAL_ROUNDS=20 draws twenty times as many.
TEST(IrRaceDifferential, AcceptsOnlyMapsWhoseIterationsNeverMeet) {
  const char* rounds = std::getenv("KERNPACK_DIFFERENTIAL_ROUNDS");
  const uint64_t count = 2000 * (rounds ? std::strtoull(rounds, nullptr, 10) : 1);
  uint64_t accepted = 0;
  for (uint64_t seed = 0; seed < count; ++seed) {
    const std::string text = RandomMap(seed).Text();
    const IRModule m = Parse(text);
    if (!CatchMessage([&] { Verify(m); }).empty()) continue;
    ++accepted;
    for (int64_t a = 0; a < 4; ++a) {
      for (int64_t b = 0; b < 4; ++b)
        ASSERT_FALSE(Touched(*m.functions[0], a, b).meets) << "A = " << a << ", B = " << b << "\n" << text;
    }
  }
  EXPECT_GT(accepted, count / 10) << "too few of the maps drawn are proved to test much";
}

}  // namespace
}  // namespace ir_test
