#include "pass/shared_reductions.h"

#include <kernpack/sdk/ir/equal.h>
#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>
#include <set>

#include "pass/widen.h"

namespace kernpack::sdk::ir {
namespace {

constexpr int kMostBits = 8 * 512;  // of partial results

// The reductions of an expression that vectors can compute, but for those inside others.
class ReductionFinder : public Visitor {
 public:
  std::vector<Expr> found;
  void VisitExpr(const Expr& e) override {
    if (e->op == Op::kStrict) return;
    if (e->op != Op::kReduce) return Visitor::VisitExpr(e);
    const Reduction& r = std::get<Reduction>(e->detail);
    if (r.lanes && !IsArg(r.op) && CanWiden(e->args[2]) && CanWiden(e->args[0]) && CanWiden(e->args[1]))
      found.push_back(e);
  }
};

class Uses : public Visitor {
 public:
  explicit Uses(const Expr& e) { VisitExpr(e); }

  bool AnyOf(const std::set<const void*>& all) const {
    return std::any_of(names_.begin(), names_.end(), [&](const void* n) { return all.count(n) != 0; });
  }
  void VisitExpr(const Expr& e) override {
    if (e->op == Op::kVar) names_.insert(e->var().get());
    if (e->op == Op::kLoad || e->op == Op::kMaskedLoad) names_.insert(e->buffer().get());
    Visitor::VisitExpr(e);
  }

 private:
  std::set<const void*> names_;  // variables and buffers
};

bool CanShare(const Expr& a, const Expr& b) {
  const Reduction &x = std::get<Reduction>(a->detail), &y = std::get<Reduction>(b->detail);
  return x.lanes == y.lanes && x.var->type == y.var->type && Equal(a->args[0], b->args[0]) &&
         Equal(a->args[1], b->args[1]);
}

}  // namespace

std::vector<SharedReduction> FindShared(const Block& block, size_t at,
                                        const std::function<bool(size_t statement, const Expr& reduction)>& is_done) {
  std::vector<SharedReduction> shared;
  std::set<const void*> changed;
  int bits = 0;
  for (; at < block.size(); ++at) {
    const StmtNode& s = *block[at];
    if (s.kind != StmtKind::kLet && s.kind != StmtKind::kStore) break;
    ReductionFinder finder;
    for (const Expr& e : s.args) finder.VisitExpr(e);
    for (const Expr& e : finder.found) {
      const int own = std::get<Reduction>(e->detail).lanes * e->type.bits;
      if (is_done(at, e) || bits + own > kMostBits || Uses(e).AnyOf(changed)) continue;
      if (!shared.empty() && !CanShare(shared[0].reduction, e)) continue;
      shared.push_back({e, at});
      bits += own;
    }
    if (shared.empty()) break;
    changed.insert(s.kind == StmtKind::kLet ? static_cast<const void*>(s.var.get()) : s.buffer.get());
  }
  return shared;
}

}  // namespace kernpack::sdk::ir
