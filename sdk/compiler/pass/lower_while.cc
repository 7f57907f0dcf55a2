// The condition of a `while` becomes a statement of its body: later passes put what a condition needs before the statement that it is
// in, and that must run in each round.
// Before:
//   func f(x!: f32[N]) -> () {
//     while reduce(+, i in 0..N, sequential, x[i]) > 1.0 {
//       x[0] = x[0] - 1.0
//     }
//   }
// After:
//   func f(x!: f32[N]) -> () {
//     while true {
//       if ~(reduce(+, i in 0..N, sequential, x[i]) > 1.0) {
//         break
//       }
//       x[0] = x[0] - 1.0
//     }
//   }
#include <kernpack/sdk/ir/pass.h>

#include "pass/each.h"

namespace kernpack::sdk::ir {
namespace {

class ConditionMover : public Mutator {
 public:
  void MutateStmt(const Stmt& s, Block* out) override {
    if (s->kind != StmtKind::kWhile || IsConst(s->args[0])) return Mutator::MutateStmt(s, out);
    Block body{At(s->position, If(~s->args[0], {Break()}))};
    for (Stmt& inner : MutateBlock(s->body)) body.push_back(std::move(inner));
    out->push_back(At(s->position, While(Expr(true), std::move(body))));
  }
};

}  // namespace

IRModule LowerWhile(const IRModule& module) { return RewriteEach<ConditionMover>(module); }

}  // namespace kernpack::sdk::ir
