#include <kernpack/sdk/ir/pass.h>

#include "pass/each.h"
#include "pass/steps.h"
#include "pass/widen.h"

namespace kernpack::sdk::ir {
namespace {

class ReductionLowerer : public Hoister {
 public:
  Expr MutateExpr(const Expr& e) override {
    if (e->op != Op::kReduce) return Mutator::MutateExpr(e);
    const Reduction& r = std::get<Reduction>(e->detail);
    const Expr begin = MutateExpr(e->args[0]), end = MutateExpr(e->args[1]);
    const int slots = r.lanes ? r.lanes : 1;
    const Buffer partial = MakeBuffer("partial", e->type, {Expr(slots)}, Scope::kLocal);
    const Expr neutral = Const(e->type, IdentityOf(r.op, e->type));
    Before(Alloc(partial));
    Block loops;
    if (r.lanes && CanWiden(e->args[2])) {
      loops = VectorLoop(r, begin, end, MutateExpr(e->args[2]), partial, neutral);
    } else {
      loops = ScalarLoop(r, begin, end, e->args[2], partial, neutral);
    }
    for (Stmt& s : loops) Before(std::move(s));
    const Expr joined = slots == 1 ? Load(partial, {Expr(0)}) : ReduceLanes(r.op, Load(partial, {AllOf(slots)}));
    return Bind("reduced", joined);
  }

 private:
  static Expr AllOf(int slots) { return Ramp(Expr(0), Expr(1), slots); }

  static Block VectorLoop(const Reduction& r, const Expr& begin, const Expr& end, const Expr& body,
                          const Buffer& partial, const Expr& neutral) {
    const Type t = r.var->type;
    const Expr all = AllOf(r.lanes), so_far = Load(partial, {all});
    Block out{Store(partial, {all}, Broadcast(neutral, r.lanes))};
    const Steps steps = MakeSteps(begin, end, r.lanes, &out);
    const Var step = MakeVar(r.var->name + "_step", t);
    const Expr base = steps.first + Expr(step) * ConstInt(t, r.lanes);
    const Expr next = Binary(r.op, so_far, Widen(body, r.var, base, r.lanes, nullptr));
    out.push_back(For(step, ConstInt(t, 0), steps.count, {Store(partial, {all}, next)}));
    const Var mask = MakeVar("mask", WithLanes(kBool, r.lanes));
    const Expr last = Binary(r.op, so_far, Widen(body, r.var, steps.rest, r.lanes, mask));
    Block tail{Let(mask, InRange(steps, r.lanes)), Store(partial, {all}, Select(Expr(mask), last, so_far))};
    out.push_back(If(steps.rest < steps.last, std::move(tail)));
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
    const Stmt update = Store(partial, {Expr(slot)}, Binary(r.op, Load(partial, {Expr(slot)}), value));
    // Reductions inside the body find their place inside the loop.
    out.push_back(For(var, first, end, MutateBlock({Let(slot, at), update})));
    return out;
  }
};

}  // namespace

IRModule LowerReductions(const IRModule& module) { return RewriteEach<ReductionLowerer>(module); }

}  // namespace kernpack::sdk::ir
