// Loops marked `vectorized` become vector code and a scalar loop for what is left, or one masked step where the loop
// says `masked`.
// Before:
//   func f(x: f32[N]) -> (o: f32[N]) {
//     vectorized(8, masked) i in 0..N {
//       o[i] = x[i] * 2.0
//     }
//   }
// After:
//   func f(x: f32[N]) -> (o: f32[N]) {
//     let steps: i64 = (max(N, 0) - 0) / 8
//     let rest: i64 = 0 + steps * 8
//     for i_step in 0..steps {
//       o[ramp(0 + i_step * 8, 1, 8)] = x[ramp(0 + i_step * 8, 1, 8)] * broadcast(2.0, 8)
//     }
//     if rest < N {
//       let mask: boolx8 = ramp(0i32, 1i32, 8) < broadcast(i32(N - rest), 8)
//       o[ramp(rest, 1, 8)] = load_if(x[ramp(rest, 1, 8)], mask, broadcast(0.0, 8)) * broadcast(2.0, 8) where mask
//     }
//   }
#include <kernpack/sdk/ir/pass.h>

#include "pass/each.h"
#include "pass/steps.h"
#include "pass/widen.h"

namespace kernpack::sdk::ir {
namespace {

class Vectorizer : public Mutator {
 public:
  void MutateStmt(const Stmt& s, Block* out) override {
    if (s->kind != StmtKind::kFor || s->for_kind != ForKind::kVectorized) return Mutator::MutateStmt(s, out);
    const Block body = MutateBlock(s->body);
    if (!CanWiden(body)) {
      out->push_back(At(s->position, For(s->var, s->args[0], s->args[1], body)));
      return;
    }
    const Type t = s->var->type;
    const Steps steps = MakeSteps(s->args[0], s->args[1], s->lanes, out);
    const Var step = MakeVar(s->var->name + "_step", t);
    const Expr base = steps.first + Expr(step) * ConstInt(t, s->lanes);
    out->push_back(For(step, ConstInt(t, 0), steps.count, Widen(body, s->var, base, s->lanes, nullptr)));
    if (s->tail == Tail::kPeeled) {
      const Var i = MakeVar(s->var->name, t);
      out->push_back(For(i, steps.rest, steps.last, CloneBlock(body, {{s->var.get(), Expr(i)}})));
      return;
    }
    const Var mask = MakeVar("mask", WithLanes(kBool, s->lanes));
    Block tail{Let(mask, InRange(steps.rest, steps.last, s->lanes))};
    for (const Stmt& one : Widen(body, s->var, steps.rest, s->lanes, mask)) tail.push_back(one);
    out->push_back(If(steps.rest < steps.last, std::move(tail)));
  }
};

}  // namespace

IRModule Vectorize(const IRModule& module) { return RewriteEach<Vectorizer>(module); }

}  // namespace kernpack::sdk::ir
