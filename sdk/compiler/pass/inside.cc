#include "pass/inside.h"

#include <algorithm>
#include <cstdlib>

namespace kernpack::sdk::ir {
namespace {

// An extent is less than 2^49: a sum of so many small multiples of extents does not wrap.
constexpr int64_t kSmall = 256;

// True if the polynomial equals the expression modulo 2^64: arithmetic of fewer bits would wrap earlier.
bool IsOf64Bits(const Expr& e) {
  if (e->op == Op::kConst || e->op == Op::kVar) return true;
  if (e->op == Op::kBroadcast) return IsOf64Bits(e->args[0]);
  if (e->op == Op::kCast) return e->type.bits == 64 && IsOf64Bits(e->args[0]);
  if (e->op != Op::kAdd && e->op != Op::kSub && e->op != Op::kMul) return false;
  return e->type.bits == 64 && IsOf64Bits(e->args[0]) && IsOf64Bits(e->args[1]);
}

bool IsSmallSum(const Poly& p) {
  return std::all_of(p.terms().begin(), p.terms().end(), [](const auto& t) {
    return t.first.size() <= 1 && (t.first.empty() || std::llabs(t.second) <= kSmall);
  });
}

bool Same(const Poly& a, const Poly& b) { return a.terms() == b.terms(); }

}  // namespace

Insides::Insides(const FuncNode& f) {
  for (const Var& v : ShapeVars(f)) facts_.non_negative.insert(v.get());
}

// The polynomial of an index. If the polynomial is inside, the index is inside too, although a part of it may wrap.
std::optional<Poly> Insides::Exact(const Expr& e) const { return IsOf64Bits(e) ? facts_.Of(e) : std::nullopt; }

// The polynomial of a loop's end or of an extent, which must not wrap.
std::optional<Poly> Insides::Bound(const Expr& e) const {
  const std::optional<Poly> p = Exact(e);
  return p && IsSmallSum(*p) ? p : std::nullopt;
}

// The largest value. Within a loop over the quotient q = length / step, step * q is the length at most.
std::optional<Poly> Insides::Most(Poly p) const {
  std::optional<Poly> most = facts_.Extreme(std::move(p), true);
  for (const VarNode* q : steps_) {
    Poly coefficient, rest;
    if (!most || !most->Uses(q) || !most->Split(q, &coefficient, &rest)) continue;
    const std::optional<int64_t> c = coefficient.Constant();
    const Quotient& quotient = quotients_.at(q);
    if (c && *c > 0 && *c % quotient.step == 0) most = Poly::Add(rest, quotient.length, *c / quotient.step);
  }
  return most;
}

bool Insides::Has(const Expr& index, const Expr& extent) const {
  if (index->op == Op::kRamp) {
    int64_t stride = 0;
    if (!IsConstInt(index->args[1], &stride) || stride < 0 || stride > kSmall || index->type.bits < 64) return false;
    const Expr last = index->args[0] + ConstInt(index->args[0]->type, stride * (index->type.lanes - 1));
    return Has(index->args[0], extent) && Has(last, extent);
  }
  const std::optional<Poly> at = Exact(index), end = Bound(extent);
  if (!at || !end) return false;
  const std::optional<Poly> least = facts_.Extreme(*at, false), most = Most(*at);
  if (!least || !most || !least->IsNonNegative(facts_.non_negative)) return false;
  const std::optional<Poly> over = Poly::Add(*most, *end, -1);
  return over && over->IsNegative(facts_.non_negative);
}

void Insides::Bind(const StmtNode& let) {
  const VarNode* var = let.var.get();
  const Expr& value = let.args[0];
  if (const std::optional<Poly> p = Exact(value)) {
    facts_.values[var] = *p;
    return;
  }
  int64_t step = 0;
  if (value->op != Op::kDiv || value->type != kI64 || !IsConstInt(value->args[1], &step) || step <= 0) return;
  // As MakeSteps() writes it: (max(end, begin) - begin) / step, and without the difference where begin is 0.
  const Expr& length = value->args[0];
  const bool from_zero = length->op == Op::kMax;
  const Expr& largest = from_zero ? length : length->args.empty() ? length : length->args[0];
  if (largest->op != Op::kMax || (!from_zero && length->op != Op::kSub)) return;
  const std::optional<Poly> end = Bound(largest->args[0]), begin = Bound(largest->args[1]);
  const std::optional<Poly> less = from_zero ? Poly() : Bound(length->args[1]);
  const std::optional<Poly> difference = end && begin ? Poly::Add(*end, *begin, -1) : std::nullopt;
  if (!difference || !less || !Same(*begin, *less)) return;
  quotients_[var] = {step, *difference};
  facts_.non_negative.insert(var);
}

void Insides::Count(const StmtNode& loop, const std::function<void()>& body) {
  if (!Bound(loop.args[0]) || !Bound(loop.args[1])) return body();
  const CounterScope counting(&facts_, loop.var, loop.args[0], loop.args[1]);
  int64_t first = 0;
  const Expr& end = loop.args[1];
  const bool steps =
      IsConstInt(loop.args[0], &first) && first == 0 && end->op == Op::kVar && quotients_.count(end->var().get()) != 0;
  if (steps) steps_.push_back(end->var().get());
  body();
  if (steps) steps_.pop_back();
}

}  // namespace kernpack::sdk::ir
