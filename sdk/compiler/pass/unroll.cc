// Loops marked `unrolled` become their iterations, or serial loops where there would be too many or their number is not
// a constant.
// Before:
//   func f(x: f32[N]) -> (o: f32[N]) {
//     unrolled i in 0..2 {
//       o[i] = x[i] * 2.0
//     }
//   }
// After:
//   func f(x: f32[N]) -> (o: f32[N]) {
//     o[0] = x[0] * 2.0
//     o[1] = x[1] * 2.0
//   }
#include <kernpack/sdk/ir/pass.h>

#include "pass/each.h"

namespace kernpack::sdk::ir {
namespace {

constexpr int64_t kMaxStatements = 16384;

int64_t CountStatements(const Block& block) {
  int64_t n = 0;
  for (const Stmt& s : block) n += 1 + CountStatements(s->body) + CountStatements(s->otherwise);
  return n;
}

class Unroller : public Mutator {
 public:
  void MutateStmt(const Stmt& s, Block* out) override {
    if (s->kind != StmtKind::kFor || s->for_kind != ForKind::kUnrolled) return Mutator::MutateStmt(s, out);
    int64_t begin = 0, end = 0, count = 0, statements = 0;
    const Block body = MutateBlock(s->body);
    const bool fits =
        IsConstInt(s->args[0], &begin) && IsConstInt(s->args[1], &end) && !__builtin_sub_overflow(end, begin, &count) &&
        !__builtin_mul_overflow(count, CountStatements(body), &statements) && statements <= kMaxStatements;
    if (!fits) {
      out->push_back(At(s->position, For(s->var, s->args[0], s->args[1], body)));
      return;
    }
    if (body.empty()) return;
    for (int64_t i = begin; i < end; ++i) {
      for (Stmt& one : CloneBlock(body, {{s->var.get(), ConstInt(s->var->type, i)}})) out->push_back(std::move(one));
    }
  }
};

}  // namespace

IRModule Unroll(const IRModule& module) { return RewriteEach<Unroller>(module); }

}  // namespace kernpack::sdk::ir
