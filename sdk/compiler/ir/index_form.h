// Indices as the race prover compares them: polynomials over what is fixed in a loop and over what varies in it.
//
// x // n and x % n of the loop's variable become digits: x = n * q + r with r in [0, n). A loop that several loops became
// is a number of mixed radix again, and its iterations differ where one of its digits does. Other quotients and remainders
// become variables of their own, of which only a range is known.
#ifndef KERNPACK_SDK_COMPILER_IR_INDEX_FORM_H_
#define KERNPACK_SDK_COMPILER_IR_INDEX_FORM_H_

#include <kernpack/sdk/ir/stmt.h>

#include <tuple>

#include "ir/polynomial.h"

namespace kernpack::sdk::ir {

using VarNodes = std::set<const VarNode*>;

// given = divisor * quotient + rest
struct Division {
  Poly quotient, rest;
};
// Divides the terms into multiples of the divisor and a rest. A constant goes to the rest, unless `constants` is set: then the
// rest's part of the constant is in [0, divisor).
Division DivideTerms(const Poly& given, const Poly& divisor, bool constants);

class IndexForms {
 public:
  // `facts`: those outside the loop. They get back what they were.
  IndexForms(Facts* facts, const StmtNode& loop);
  ~IndexForms();
  IndexForms(const IndexForms&) = delete;
  IndexForms& operator=(const IndexForms&) = delete;

  // A counter inside an iteration, and a `let` there, which has no form without a value. What follows of a loop that runs holds until Assume() takes it back.
  void Count(const Var& var, const Expr& begin, const Expr& end);
  void Bind(const Var& var, const Expr& value);

  // Nothing for anything else: memory, other operations, arithmetic that may wrap.
  std::optional<Poly> Of(const Expr& e);

  // q and r of one expression e = n * q + r, which is not the loop's variable: where e differs, one of the two does.
  struct Pair {
    const VarNode *quotient, *rest;
    Poly divisor, whole;
  };
  const std::vector<Pair>& Pairs() const { return pairs_; }

  // The loop's variable, or the digits that it was cut into.
  const VarNodes& Digits() const { return digits_; }
  bool IsSingle(const VarNode* digit) const;  // it has one value
  // In terms of digits. Call it when every index was asked for.
  std::optional<Poly> Resolved(Poly p) const;
  // The smallest or largest value while all that varies takes all its values, but for what is `kept`.
  std::optional<Poly> Extreme(const Poly& p, bool largest, const VarNodes& kept = {}) const;
  bool Varies(const VarNode* var) const { return varying_.count(var) != 0; }
  // Variables that are not 0 at one place in an iteration, because of the loops around it.
  const VarNodes& Assumed() const { return assumed_; }
  void Assume(VarNodes not_zero) { assumed_ = std::move(not_zero); }
  // Provably, in an iteration and under what is assumed: a loop that runs has extents that are not 0.
  bool IsNegative(const Poly& p) const;
  bool IsNonNegative(const Poly& p) const;

 private:
  struct Range {
    std::optional<Poly> low, high;  // both included
    size_t order;  // the range may name what has a smaller one
  };
  // Of what is known: two operands, and what is made of them. kTruncated: a digit that may be negative, cut.
  enum Operation { kFloors, kTruncates, kTruncated, kLarger, kSmaller };
  using Key = std::tuple<std::map<Term, int64_t>, std::map<Term, int64_t>, Operation>;

  Facts& facts_;
  std::unordered_map<const VarNode*, Range> varying_;
  std::unordered_map<const VarNode*, std::optional<Poly>> values_;  // of `let`s inside
  std::unordered_map<const VarNode*, Poly> parts_;  // of what was cut into digits
  VarNodes digits_;
  VarNodes not_zero_, assumed_;  // in every iteration; at one place
  std::vector<const VarNode*> added_;  // to the facts' variables that are not negative
  std::vector<Var> made_;
  std::map<Key, Division> known_;
  std::vector<Pair> pairs_;
  std::unordered_map<const VarNode*, std::pair<Poly, Poly>> quotients_;  // fixed ones: of what, by what

  const VarNode* Make(const char* name, bool is_non_negative);
  void AddNonNegative(const VarNode* var);
  void NoteRuns(const std::optional<Poly>& low, const std::optional<Poly>& past, VarNodes* not_zero);
  void NotePositive(const Poly& p, VarNodes* not_zero, int depth = 0);
  bool IsNotZero(const VarNode* v) const { return not_zero_.count(v) || assumed_.count(v); }
  std::optional<Poly> Bound(const Expr& e, bool largest);
  std::optional<Poly> OfCast(const Expr& e);
  std::optional<Poly> OfLimit(const Expr& e);
  std::optional<Poly> OfFlipped(const Expr& e);
  bool Fits(const Poly& p, Type type) const;
  bool IsFixed(const Poly& p) const;
  bool IsPositive(const Poly& p) const;
  bool IsWithin(const Poly& p, const Poly& count) const;  // in [0, count)

  std::optional<Division> Divide(const Poly& given, const Poly& by, bool truncates, int depth = 0);
  std::optional<Division> Cut(const VarNode* digit, const Poly& divisor, bool truncates, int depth);
  std::optional<Division> ByCommonFactor(const Poly& rest, const Poly& divisor, int depth);
  Division Opaque(const Poly& given, const Poly& divisor, bool truncates, int depth);
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_INDEX_FORM_H_
