// `reduce` becomes a loop. With order `any n` the loop keeps n partial results, which are combined behind it. Neighbours over the same
// range share a loop.
// Before:
//   func f(x: f32[N]) -> (o: f32[1]) {
//     o[0] = reduce(+, i in 0..N, sequential, x[i])
//   }
// After:
//   func f(x: f32[N]) -> (o: f32[1]) {
//     alloc partial: f32[1] local
//     for slot in 0..1 {
//       partial[slot] = 0.0
//     }
//     for i in 0..N {
//       let slot_1: i64 = 0
//       partial[slot_1] = partial[slot_1] + x[i]
//     }
//     let reduced: f32 = partial[0]
//     o[0] = reduced
//   }
#include <kernpack/sdk/ir/pass.h>

#include <numeric>

#include "ir/take_in.h"
#include "pass/each.h"
#include "pass/shared_reductions.h"
#include "pass/steps.h"
#include "pass/widen.h"

namespace kernpack::sdk::ir {
namespace {

// Lanes of a step of the tail of a wide reduction: a vector of the widest registers for f32.
constexpr int kTailLanes = 16;

// Minima and maxima pass over NaN, and start from an infinity: what they are so far is never NaN. A comparison is enough
// then, which processors have one instruction for.
bool IsNeverNan(Op op, Type t) { return IsFloat(t) && (op == Op::kMin || op == Op::kMax); }
Expr Chosen(Op op, const Expr& a, const Expr& b) {
  return Select(Binary(op == Op::kMin ? Op::kLt : Op::kGt, a, b), a, b);
}

// A partial result that takes in a value; what it needs before is appended to `out`.
Expr Next(Op op, const Expr& so_far, const Expr& value, Block* out) {
  if (!IsNeverNan(op, so_far->type)) return TakeIn(op, so_far, value);
  return Chosen(op, Bound(value, "value", out), so_far);
}

class ReductionLowerer : public Hoister {
 public:
  Block MutateBlock(const Block& block) override {
    Block out;
    std::vector<std::unordered_map<const ExprNode*, Expr>> values(block.size());  // of each statement's reductions
    for (size_t i = 0; i < block.size(); ++i) {
      const std::vector<SharedReduction> shared =
          FindShared(block, i, [&](size_t at, const Expr& e) { return values[at].count(e.get()) != 0; });
      if (shared.size() > 1) {
        Block outer = TakeBefore();
        const std::vector<Expr> all = Together(shared);
        for (size_t k = 0; k < all.size(); ++k) values[shared[k].statement][shared[k].reduction.get()] = all[k];
        for (Stmt& s : TakeBefore()) out.push_back(std::move(s));
        *Place() = std::move(outer);
      }
      done_ = values[i];
      MutateStmt(block[i], &out);
      done_.clear();
    }
    return out;
  }

  Expr MutateExpr(const Expr& e) override {
    if (e->op != Op::kReduce) return Hoister::MutateExpr(e);
    if (const auto known = done_.find(e.get()); known != done_.end()) return known->second;
    const Reduction& r = std::get<Reduction>(e->detail);
    const Expr begin = MutateExpr(e->args[0]), end = MutateExpr(e->args[1]);
    if (IsArg(r.op)) return Arg(r, begin, end, e->args[2]);
    const int slots = r.lanes ? r.lanes : 1;
    const Buffer partial = MakeBuffer("partial", e->type, {Expr(slots)}, Scope::kLocal);
    const Expr neutral = Const(e->type, IdentityOf(r.op, e->type));
    Before(Alloc(partial));
    Block loops;
    if (r.lanes && CanWiden(e->args[2])) {
      loops = VectorLoop(begin, end, {{r, MutateExpr(e->args[2]), partial, neutral}});
    } else {
      loops = ScalarLoop(r, begin, end, e->args[2], partial, neutral);
    }
    for (Stmt& s : loops) Before(std::move(s));
    return Bind("reduced", slots == 1 ? Load(partial, {Expr(0)}) : Joined(r.op, Load(partial, {AllSlots(slots)})));
  }

 private:
  std::unordered_map<const ExprNode*, Expr> done_;  // reductions of the statement that have a loop already

  // The place of the first largest or smallest value, in a loop that keeps both.
  Expr Arg(const Reduction& r, const Expr& begin, const Expr& end, const Expr& body) {
    const Type t = r.var->type;
    int64_t least = 0, past = 0;
    if (IsConstInt(begin, &least) && IsConstInt(end, &past) && past <= least) return ConstInt(t, -1);
    const Expr first = Bind("first", begin);
    const Buffer best = MakeBuffer("best", body->type, {Expr(1)}, Scope::kLocal);
    const Buffer at = MakeBuffer("at", t, {Expr(1)}, Scope::kLocal);
    for (const Stmt& s : {Alloc(best), Alloc(at), Store(best, {Expr(0)}, ConstInt(body->type, 0)),
                          Store(at, {Expr(0)}, ConstInt(t, -1))}) {
      Before(s);
    }
    const Var var = MakeVar(r.var->name, t), value = MakeVar("value", body->type);
    const Expr so_far = Load(best, {Expr(0)}), v(value);
    Expr takes = (Expr(var) == first) | Binary(r.op == Op::kArgMax ? Op::kGt : Op::kLt, v, so_far);
    if (IsFloat(body->type)) takes = takes | ((v != v) & (so_far == so_far));
    const Block turn{Let(value, Substitute(body, {{r.var.get(), Expr(var)}})),
                     If(takes, {Store(best, {Expr(0)}, v), Store(at, {Expr(0)}, Expr(var))})};
    Before(For(var, first, end, MutateBlock(turn)));
    return Bind("place", Load(at, {Expr(0)}));
  }

  static Expr AllSlots(int slots) { return Ramp(Expr(0), Expr(1), slots); }

  // As `lanes`.
  Expr Joined(Op op, Expr all) {
    if (!IsNeverNan(op, all->type)) return ReduceLanes(op, all);
    for (int half = all->type.lanes / 2; half; half /= 2) {
      const Expr both = Bind("both", all);
      std::vector<int> low(static_cast<size_t>(half)), high(low.size());
      std::iota(low.begin(), low.end(), 0);
      std::iota(high.begin(), high.end(), half);
      all = Chosen(op, Bind("low", Shuffle(both, both, low)), Bind("high", Shuffle(both, both, high)));
    }
    return all;
  }

  // Of one reduction. Those of one loop have as many lanes each, and counters of one type.
  struct Sum {
    const Reduction& reduction;
    Expr body;
    Buffer partial;
    Expr neutral;
  };
  static Block VectorLoop(const Expr& begin, const Expr& end, const std::vector<Sum>& sums) {
    const Reduction& first = sums[0].reduction;
    const Type t = first.var->type;
    const Expr all = AllSlots(first.lanes);
    Block out;
    for (const Sum& s : sums) out.push_back(Store(s.partial, {all}, Broadcast(s.neutral, first.lanes)));
    const Steps steps = MakeSteps(begin, end, first.lanes, &out);
    const Var step = MakeVar(first.var->name + "_step", t);
    const Expr base = steps.first + Expr(step) * ConstInt(t, first.lanes);
    Block turn, tails;
    for (const auto& [r, body, partial, neutral] : sums) {
      const Expr so_far = Load(partial, {all});
      const Expr next = Next(r.op, so_far, Widen(body, r.var, base, r.lanes, nullptr), &turn);
      turn.push_back(Store(partial, {all}, next));
      for (Stmt& s : Tail(r, steps, body, partial)) tails.push_back(std::move(s));
    }
    out.push_back(For(step, ConstInt(t, 0), steps.count, std::move(turn)));
    out.push_back(If(steps.rest < steps.last, std::move(tails)));
    return out;
  }

  // The values of reductions that share a loop.
  std::vector<Expr> Together(const std::vector<SharedReduction>& all) {
    std::vector<Sum> sums;
    for (const auto& [e, statement] : all) {
      const Buffer partial =
          MakeBuffer("partial", e->type, {Expr(std::get<Reduction>(e->detail).lanes)}, Scope::kLocal);
      Before(Alloc(partial));
      sums.push_back({std::get<Reduction>(e->detail), MutateExpr(e->args[2]), partial,
                      Const(e->type, IdentityOf(std::get<Reduction>(e->detail).op, e->type))});
    }
    const ExprNode& range = *all[0].reduction;
    for (Stmt& s : VectorLoop(MutateExpr(range.args[0]), MutateExpr(range.args[1]), sums)) Before(std::move(s));
    std::vector<Expr> values;
    for (const Sum& s : sums)
      values.push_back(Bind("reduced", Joined(s.reduction.op, Load(s.partial, {AllSlots(s.reduction.lanes)}))));
    return values;
  }

  // The rest after the whole steps. Wide partial results add the rest in parts, in a loop, which is less code than all
  // of their lanes at once; from a copy, since only places that are constants can be registers.
  static Block Tail(const Reduction& r, const Steps& steps, const Expr& body, const Buffer& partial) {
    const Type t = r.var->type;
    const bool by_parts = r.lanes > kTailLanes && r.lanes % kTailLanes == 0;
    if (!by_parts) return TailPart(r, steps, body, partial, ConstInt(t, 0), r.lanes);
    const Expr all = AllSlots(r.lanes);
    const Buffer copy = MakeBuffer("tail", partial->element, partial->shape, Scope::kLocal);
    Block out{Alloc(copy), Store(copy, {all}, Load(partial, {all}))};
    const Var part = MakeVar(r.var->name + "_part", t);
    const Expr lane = Expr(part) * ConstInt(t, kTailLanes);
    const Expr count = (steps.last - steps.rest + ConstInt(t, kTailLanes - 1)) / ConstInt(t, kTailLanes);
    out.push_back(For(part, ConstInt(t, 0), count, TailPart(r, steps, body, copy, lane, kTailLanes)));
    out.push_back(Store(partial, {all}, Load(copy, {all})));
    return out;
  }

  // Adds the rest from `lane` on to that lane of `partial` and the next lanes.
  static Block TailPart(const Reduction& r, const Steps& steps, const Expr& body, const Buffer& partial,
                        const Expr& lane, int lanes) {
    Block out;
    const Expr base = Bound(steps.rest + lane, "base", &out);
    const Expr so_far = Load(partial, {Ramp(Cast(kI64, lane), Expr(1), lanes)});
    const Var mask = MakeVar("mask", WithLanes(kBool, lanes));
    out.push_back(Let(mask, InRange(base, steps.last, lanes)));
    const Expr next = Next(r.op, so_far, Widen(body, r.var, base, lanes, mask), &out);
    out.push_back(Store(partial, so_far->args, Select(Expr(mask), next, so_far)));
    return out;
  }

  Block ScalarLoop(const Reduction& r, const Expr& begin, const Expr& end, const Expr& body, const Buffer& partial,
                   const Expr& neutral) {
    const int slots = r.lanes ? r.lanes : 1;
    Block out;
    const Var clear = MakeVar("slot", kI64);
    out.push_back(For(clear, Expr(0), Expr(slots), {Store(partial, {Expr(clear)}, neutral)}));
    const Expr first = Bound(begin, "first", &out);
    const Var var = MakeVar(r.var->name, r.var->type), slot = MakeVar("slot", kI64);
    const Expr at = slots == 1 ? Expr(0) : (Cast(kI64, Expr(var)) - Cast(kI64, first)) % Expr(slots);
    const Expr value = Substitute(body, {{r.var.get(), Expr(var)}});
    Block turn{Let(slot, at)};
    const Expr next = Next(r.op, Load(partial, {Expr(slot)}), value, &turn);
    turn.push_back(Store(partial, {Expr(slot)}, next));
    // Reductions inside the body find their place inside the loop.
    out.push_back(For(var, first, end, MutateBlock(turn)));
    return out;
  }
};

}  // namespace

IRModule LowerReductions(const IRModule& module) { return RewriteEach<ReductionLowerer>(module); }

}  // namespace kernpack::sdk::ir
