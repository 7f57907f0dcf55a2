#include "pass/steps.h"

#include "pass/each.h"

namespace kernpack::sdk::ir {

Steps MakeSteps(const Expr& begin, const Expr& end, int lanes, Block* out) {
  const Expr n = ConstInt(begin->type, lanes);
  Steps s;
  s.first = Bound(begin, "first", out);
  s.last = Bound(end, "last", out);
  s.count = Bound((Binary(Op::kMax, s.last, s.first) - s.first) / n, "steps", out);
  s.rest = Bound(s.first + s.count * n, "rest", out);
  return s;
}

}  // namespace kernpack::sdk::ir
