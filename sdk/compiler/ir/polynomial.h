// Integer polynomials of variables: what indices are compared as. Variables that are extents or loop counters from 0 up
// are not negative, which decides many signs.
#ifndef KERNPACK_SDK_COMPILER_IR_POLYNOMIAL_H_
#define KERNPACK_SDK_COMPILER_IR_POLYNOMIAL_H_

#include <kernpack/sdk/ir/expr.h>

#include <map>
#include <optional>
#include <set>
#include <unordered_map>

namespace kernpack::sdk::ir {

using Term = std::vector<const VarNode*>;  // a product, sorted

class Poly {
 public:
  Poly() = default;
  explicit Poly(int64_t constant);
  explicit Poly(const VarNode* var);
  explicit Poly(std::map<Term, int64_t> terms) : terms_(std::move(terms)) {}  // sorted products, no zeros

  std::optional<int64_t> Constant() const;
  bool Uses(const VarNode* var) const;
  // Nothing where a coefficient overflows, a product grows past eight factors, or there would be more than 64 terms.
  static std::optional<Poly> Add(const Poly& a, const Poly& b, int64_t scale = 1);
  static std::optional<Poly> Multiply(const Poly& a, const Poly& b);
  // this = coefficient * var + rest; nothing where var occurs in a higher power.
  bool Split(const VarNode* var, Poly* coefficient, Poly* rest) const;
  // Provably so, for every value of variables that are not negative.
  bool IsNonNegative(const std::set<const VarNode*>& non_negative) const;
  bool IsNegative(const std::set<const VarNode*>& non_negative) const;
  const std::map<Term, int64_t>& terms() const { return terms_; }

 private:
  std::map<Term, int64_t> terms_;
};

// Facts about the variables at one place.
struct Facts {
  struct Range {
    Poly low, high;  // both ends included
  };
  std::vector<std::pair<const VarNode*, Range>> counters;  // loops, outermost first
  std::vector<std::pair<Expr, Expr>> bounds;  // of all loops around: each runs, or there would be no such place
  std::unordered_map<const VarNode*, Poly> values;  // of `let`
  std::set<const VarNode*> non_negative;
  // The same of values that aren't polynomials, and of counters without a known end. A loop of those may not run at all,
  // so no access in it is surely out of bounds.
  std::set<const VarNode*> perhaps_never;

  std::optional<Poly> Of(const Expr& e) const;
  // Provably so: what Of() gives is not negative, or neither are the operands of a quotient and the like.
  bool IsNotNegative(const Expr& e) const;
  // Learns the value of a variable from its `let`.
  void Learn(const Var& var, const Expr& value);
  // The largest or smallest value while the counters from `first` on take all of theirs.
  std::optional<Poly> Extreme(Poly p, bool largest, size_t first = 0) const;
};

// A loop's counter, while its body is looked at.
class CounterScope {
 public:
  CounterScope(Facts* facts, const Var& var, const Expr& begin, const Expr& end);
  ~CounterScope();
  CounterScope(const CounterScope&) = delete;
  CounterScope& operator=(const CounterScope&) = delete;

 private:
  Facts& facts_;
  const size_t outer_;  // how many counters there were
  const VarNode* non_negative_ = nullptr;  // the counter, if that is known of it because of this loop
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_POLYNOMIAL_H_
