// Extents of allocated buffers become variables, so that each is computed once.
// Before:
//   func f(x: f32[N]) -> (o: f32[N]) {
//     alloc t: f32[N * 2] local
//     t[N] = x[0]
//     o[0] = t[N]
//   }
// After:
//   func f(x: f32[N]) -> (o: f32[N]) {
//     let t_extent: i64 = N * 2
//     alloc t: f32[t_extent] local
//     t[N] = x[0]
//     o[0] = t[N]
//   }
#include <kernpack/sdk/ir/pass.h>

#include "pass/each.h"

namespace kernpack::sdk::ir {
namespace {

class ExtentBinder : public Mutator {
 public:
  void MutateStmt(const Stmt& s, Block* out) override {
    if (s->kind != StmtKind::kAlloc) return Mutator::MutateStmt(s, out);
    const BufferNode& b = *s->buffer;
    std::vector<Expr> shape;
    for (const Expr& extent : MutateAll(b.shape)) shape.push_back(Bound(extent, b.name + "_extent", out));
    const Buffer made = MakeBuffer(b.name, b.element, std::move(shape), b.scope, b.key, b.zeroed);
    buffers_[s->buffer.get()] = made;
    out->push_back(At(s->position, Alloc(made)));
  }
};

}  // namespace

IRModule BindExtents(const IRModule& module) { return RewriteEach<ExtentBinder>(module); }

}  // namespace kernpack::sdk::ir
