#include "ir/uses.h"

#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

namespace kernpack::sdk::ir {
namespace {

class Widest : public Visitor {
 public:
  int bits = 8;

  void VisitExpr(const Expr& e) override {
    if (!IsBool(e->type) && ElementOf(e->type) != kI64) Count(e->type);
    if (e->op == Op::kLoad || e->op == Op::kMaskedLoad) {
      Count(e->buffer()->element);
      return;  // indices aren't elements
    }
    Visitor::VisitExpr(e);
  }
  void VisitStmt(const Stmt& s) override {
    if (s->kind != StmtKind::kStore) return Visitor::VisitStmt(s);
    Count(s->buffer->element);
    VisitExpr(s->args.back());
  }

 private:
  void Count(Type t) { bits = std::max<int>(bits, t.bits); }
};

}  // namespace

int WidestBits(const Block& block) {
  Widest widest;
  widest.VisitBlock(block);
  return widest.bits;
}

int LanesOf(const Block& block, int bytes) { return std::max(2, bytes * 8 / WidestBits(block)); }

}  // namespace kernpack::sdk::ir
