#include "ir/uses.h"

#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>
#include <unordered_set>

namespace kernpack::sdk::ir {
namespace {

class FreeFinder : public Visitor {
 public:
  FreeNames out;

  void VisitExpr(const Expr& e) override {
    if (e->op == Op::kReduce) known_.insert(std::get<Reduction>(e->detail).var.get());
    if (e->op == Op::kVar && known_.insert(e->var().get()).second) out.vars.push_back(e->var());
    if (e->op == Op::kLoad || e->op == Op::kMaskedLoad) Use(e->buffer());
    Visitor::VisitExpr(e);
  }

  void VisitStmt(const Stmt& s) override {
    if (s->kind == StmtKind::kAlloc) known_.insert(s->buffer.get());
    if (s->kind == StmtKind::kStore) Use(s->buffer);
    for (const Buffer& b : s->buffers) Use(b);
    for (const Expr& e : s->args) VisitExpr(e);  // a loop's bounds do not see its variable
    if (s->var) known_.insert(s->var.get());
    Visitor::VisitStmt(s);
  }

 private:
  std::unordered_set<const void*> known_;

  void Use(const Buffer& b) {
    if (!known_.insert(b.get()).second) return;
    out.buffers.push_back(b);
    for (const Expr& e : b->shape) VisitExpr(e);
  }
};

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

FreeNames FreeIn(const Block& block) {
  FreeFinder finder;
  finder.VisitBlock(block);
  return std::move(finder.out);
}

int WidestBits(const Block& block) {
  Widest widest;
  widest.VisitBlock(block);
  return widest.bits;
}

int CountLanes(const Block& block, int bytes) { return std::max(2, bytes * 8 / WidestBits(block)); }

}  // namespace kernpack::sdk::ir
