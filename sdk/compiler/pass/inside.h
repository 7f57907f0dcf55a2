// Proves that an index of lowered code is inside its extent, from loop counters, variables that are bound to sums and products of
// loop counters, and whole steps of vectorized loops.
#ifndef KERNPACK_SDK_COMPILER_PASS_INSIDE_H_
#define KERNPACK_SDK_COMPILER_PASS_INSIDE_H_

#include <kernpack/sdk/ir/stmt.h>

#include <functional>
#include <map>

#include "ir/polynomial.h"

namespace kernpack::sdk::ir {

class Insides {
 public:
  explicit Insides(const FuncNode& f);

  // 0 <= index < extent, in every lane, whenever this place runs.
  bool Has(const Expr& index, const Expr& extent) const;
  // Later code may use the variable.
  void Bind(const StmtNode& let);
  // Runs `body` for the loop's body.
  void Count(const StmtNode& loop, const std::function<void()>& body);

 private:
  // let var = (max(end, begin) - begin) / step
  struct Quotient {
    int64_t step;
    Poly length;  // end - begin
  };

  Facts facts_;
  std::map<const VarNode*, Quotient> quotients_;
  std::vector<const VarNode*> steps_;  // quotients that are the ends of loops around: at least 1

  std::optional<Poly> Exact(const Expr& e) const;
  std::optional<Poly> Bound(const Expr& e) const;
  std::optional<Poly> Most(Poly p) const;
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_PASS_INSIDE_H_
