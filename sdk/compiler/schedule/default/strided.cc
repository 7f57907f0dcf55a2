#include "schedule/default/nests.h"

#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

namespace kernpack::sdk::ir {

bool IsUsed(const Var& var, const Expr& e) {
  return (e->op == Op::kVar && e->var() == var) ||
         std::any_of(e->args.begin(), e->args.end(), [&](const Expr& a) { return IsUsed(var, a); });
}

namespace {

class StrideFinder : public Visitor {
 public:
  explicit StrideFinder(Var var) : var_(std::move(var)) {}
  std::vector<Buffer> found;

  void VisitExpr(const Expr& e) override {
    Visitor::VisitExpr(e);
    if (e->op != Op::kLoad && e->op != Op::kMaskedLoad) return;
    for (size_t d = 0; d + 1 < e->buffer()->shape.size(); ++d) {
      if (IsUsed(var_, e->args[d]) && !std::count(found.begin(), found.end(), e->buffer()))
        found.push_back(e->buffer());
    }
  }

 private:
  Var var_;
};

class Indices : public Visitor {
 public:
  explicit Indices(const std::vector<Buffer>& buffers) : buffers_(buffers) {}
  bool are_axes = true;

  void VisitExpr(const Expr& e) override {
    Visitor::VisitExpr(e);
    if ((e->op != Op::kLoad && e->op != Op::kMaskedLoad) || !std::count(buffers_.begin(), buffers_.end(), e->buffer()))
      return;
    for (size_t d = 0; d < e->buffer()->shape.size(); ++d) are_axes = are_axes && e->args[d]->op == Op::kVar;
  }

 private:
  const std::vector<Buffer>& buffers_;
};

}  // namespace

std::vector<Buffer> StridedSources(const Stage& stage, const StageAxis& axis) {
  StrideFinder finder(axis.var);
  finder.VisitExpr(stage.body);
  return std::move(finder.found);
}

bool AreIndexedByAxes(const Stage& stage, const std::vector<Buffer>& buffers) {
  Indices indices(buffers);
  indices.VisitExpr(stage.body);
  return indices.are_axes;
}

}  // namespace kernpack::sdk::ir
