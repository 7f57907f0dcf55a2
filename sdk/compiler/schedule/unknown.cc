#include "schedule/unknown.h"

#include <kernpack/sdk/ir/visitor.h>

namespace kernpack::sdk::ir {
namespace {

class UnknownFinder : public Visitor {
 public:
  explicit UnknownFinder(const std::set<const VarNode*>& known) : known_(known) {}
  const VarNode* unknown = nullptr;

  void Bind(const Var& var) { known_.insert(var.get()); }
  void Bind(const std::set<const VarNode*>& vars) { known_.insert(vars.begin(), vars.end()); }
  void VisitExpr(const Expr& e) override {
    if (e->op == Op::kReduce) Bind(std::get<Reduction>(e->detail).var);
    if (e->op == Op::kVar && !known_.count(e->var().get())) unknown = e->var().get();
    Visitor::VisitExpr(e);
  }

 private:
  std::set<const VarNode*> known_;
};

}  // namespace

std::set<const VarNode*> CollectVariables(const FuncNode& function) {
  std::set<const VarNode*> out;
  for (const Var& v : ShapeVars(function)) out.insert(v.get());
  for (const Param& p : function.params) {
    if (p.var) out.insert(p.var.get());
  }
  return out;
}

const VarNode* FindUnknown(const Stage& stage, const std::set<const VarNode*>& of_function,
                           const std::set<const VarNode*>& in_body) {
  UnknownFinder finder(of_function);
  for (const auto* axes : {&stage.spatial, &stage.reduced}) {
    for (const StageAxis& a : *axes) finder.VisitExpr(a.extent);
  }
  for (const auto* axes : {&stage.spatial, &stage.reduced}) {
    for (const StageAxis& a : *axes) finder.Bind(a.var);
  }
  finder.Bind(in_body);
  finder.VisitExpr(stage.body);
  return finder.unknown;
}

}  // namespace kernpack::sdk::ir
