#include "ir/verify_checks.h"

#include <kernpack/sdk/ir/visitor.h>

namespace kernpack::sdk::ir {
namespace {

class LeadingFinder : public Visitor {
 public:
  std::string name;

  void VisitExpr(const Expr& e) override {
    if (e->op == Op::kVar && e->var()->leading) name = e->var()->name;
    Visitor::VisitExpr(e);
  }
};

}  // namespace

// A signature writes it as "...", which can stand first only and is the same for every tensor.
std::string FaultOfLeading(const Param& p, Var* leading) {
  const std::vector<Expr>& shape = p.buffer->shape;
  if (p.has_any_rank()) {
    const Var& own = shape[0]->var();
    if (*leading && *leading != own) {
      return p.name() + ": a function has one set of leading dimensions, '" + (*leading)->name + "...', not '" +
             own->name + "...' as well";
    }
    *leading = own;
  }
  LeadingFinder found;
  for (size_t d = p.has_any_rank() ? 1 : 0; d < shape.size(); ++d) found.VisitExpr(shape[d]);
  if (found.name.empty()) return "";
  return p.name() + ": '" + found.name +
         "...' stands for any number of dimensions: it can only be the first extent, alone";
}

}  // namespace kernpack::sdk::ir
