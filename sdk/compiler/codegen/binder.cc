#include "codegen/binder.h"

#include <algorithm>

namespace kernpack::sdk::ir {

std::vector<DimBinder> FindBinders(const FuncNode& f) {
  std::vector<DimBinder> out;
  for (const Var& v : ShapeVars(f)) {
    for (size_t p = 0; p < f.params.size(); ++p) {
      if (!f.params[p].buffer || f.params[p].role == Role::kResult) continue;
      const std::vector<Expr>& shape = f.params[p].buffer->shape;
      const auto found =
          std::find_if(shape.begin(), shape.end(), [&v](const Expr& e) { return e->op == Op::kVar && e->var() == v; });
      if (found == shape.end()) continue;
      out.push_back({v, p, static_cast<size_t>(found - shape.begin())});
      break;
    }
  }
  return out;
}

}  // namespace kernpack::sdk::ir
