#include "ir/polynomial.h"

#include <algorithm>

namespace kernpack::sdk::ir {
namespace {

constexpr size_t kMostTerms = 64;
constexpr size_t kMostFactors = 8;

}  // namespace

Poly::Poly(int64_t constant) {
  if (constant) terms_[{}] = constant;
}
Poly::Poly(const VarNode* var) { terms_[{var}] = 1; }

std::optional<int64_t> Poly::Constant() const {
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_.begin()->first.empty()) return terms_.begin()->second;
  return std::nullopt;
}

bool Poly::Uses(const VarNode* var) const {
  return std::any_of(terms_.begin(), terms_.end(),
                     [var](const auto& t) { return std::count(t.first.begin(), t.first.end(), var) != 0; });
}

std::optional<Poly> Poly::Add(const Poly& a, const Poly& b, int64_t scale) {
  Poly out = a;
  for (const auto& [term, c] : b.terms_) {
    int64_t scaled = 0;
    int64_t& slot = out.terms_[term];
    if (__builtin_mul_overflow(c, scale, &scaled) || __builtin_add_overflow(slot, scaled, &slot)) return std::nullopt;
    if (slot == 0) out.terms_.erase(term);
    if (out.terms_.size() > kMostTerms) return std::nullopt;
  }
  return out;
}

std::optional<Poly> Poly::Multiply(const Poly& a, const Poly& b) {
  Poly out;
  for (const auto& [ta, ca] : a.terms_) {
    for (const auto& [tb, cb] : b.terms_) {
      Term term = ta;
      term.insert(term.end(), tb.begin(), tb.end());
      std::sort(term.begin(), term.end());
      Poly one;
      if (term.size() > kMostFactors || __builtin_mul_overflow(ca, cb, &one.terms_[term])) return std::nullopt;
      const std::optional<Poly> sum = Add(out, one);
      if (!sum) return std::nullopt;
      out = *sum;
    }
  }
  return out;
}

bool Poly::Split(const VarNode* var, Poly* coefficient, Poly* rest) const {
  for (const auto& [term, c] : terms_) {
    const auto found = std::find(term.begin(), term.end(), var);
    if (found == term.end()) {
      rest->terms_[term] = c;
      continue;
    }
    Term without = term;
    without.erase(without.begin() + (found - term.begin()));
    if (std::find(without.begin(), without.end(), var) != without.end()) return false;
    coefficient->terms_[without] = c;
  }
  return true;
}

bool Poly::IsNonNegative(const std::set<const VarNode*>& non_negative) const {
  return std::all_of(terms_.begin(), terms_.end(), [&](const auto& t) {
    return t.second >= 0 &&
           std::all_of(t.first.begin(), t.first.end(), [&](const VarNode* v) { return non_negative.count(v); });
  });
}

bool Poly::IsNegative(const std::set<const VarNode*>& non_negative) const {
  // -p - 1 >= 0
  const std::optional<Poly> flipped = Add(Poly(-1), *this, -1);
  return flipped && flipped->IsNonNegative(non_negative);
}

std::optional<Poly> Facts::Of(const Expr& e) const {
  if (!IsInteger(e->type)) return std::nullopt;
  int64_t value = 0;
  if (IsConstInt(e, &value)) return Poly(value);
  if (e->op == Op::kVar) {
    const auto found = values.find(e->var().get());
    return found == values.end() ? Poly(e->var().get()) : found->second;
  }
  if (e->op == Op::kCast) return e->type.bits >= e->args[0]->type.bits ? Of(e->args[0]) : std::nullopt;
  if (e->op == Op::kBroadcast || e->op == Op::kStrict) return Of(e->args[0]);
  if (e->op != Op::kAdd && e->op != Op::kSub && e->op != Op::kMul) return std::nullopt;
  const std::optional<Poly> a = Of(e->args[0]), b = Of(e->args[1]);
  if (!a || !b) return std::nullopt;
  if (e->op == Op::kMul) return Poly::Multiply(*a, *b);
  return Poly::Add(*a, *b, e->op == Op::kAdd ? 1 : -1);
}

bool Facts::IsNotNegative(const Expr& e) const {
  if (e->op == Op::kVar && perhaps_never.count(e->var().get())) return true;
  if (const std::optional<Poly> p = Of(e)) return p->IsNonNegative(non_negative);
  if (!IsInteger(e->type)) return false;
  switch (e->op) {
    case Op::kAdd:
    case Op::kMul:
    case Op::kDiv:
    case Op::kFloorDiv:
    case Op::kMin:
      return IsNotNegative(e->args[0]) && IsNotNegative(e->args[1]);
    case Op::kMax:
      return IsNotNegative(e->args[0]) || IsNotNegative(e->args[1]);
    case Op::kRem:  // has the sign of the dividend
      return IsNotNegative(e->args[0]);
    case Op::kFloorMod:
      return IsNotNegative(e->args[1]);
    default:
      return false;
  }
}

void Facts::Learn(const Var& var, const Expr& value) {
  if (const std::optional<Poly> p = Of(value)) {
    values[var.get()] = *p;
  } else if (IsNotNegative(value)) {
    perhaps_never.insert(var.get());
  }
}

std::optional<Poly> Facts::Extreme(Poly p, bool largest, size_t first) const {
  // An inner counter's range may name outer ones, never the reverse.
  for (size_t i = counters.size(); i > first; --i) {
    const auto& [var, range] = counters[i - 1];
    if (!p.Uses(var)) continue;
    Poly coefficient, rest;
    if (!p.Split(var, &coefficient, &rest)) return std::nullopt;
    const std::optional<Poly> flipped = Poly::Add(Poly(), coefficient, -1);
    const bool up = coefficient.IsNonNegative(non_negative);
    if (!up && !(flipped && flipped->IsNonNegative(non_negative))) return std::nullopt;
    const std::optional<Poly> part = Poly::Multiply(coefficient, up == largest ? range.high : range.low);
    const std::optional<Poly> sum = part ? Poly::Add(rest, *part) : std::nullopt;
    if (!sum) return std::nullopt;
    p = *sum;
  }
  return p;
}

CounterScope::CounterScope(Facts* facts, const Var& var, const Expr& begin, const Expr& end)
    : facts_(*facts), outer_(facts->counters.size()) {
  facts_.bounds.emplace_back(begin, end);
  const std::optional<Poly> low = facts_.Of(begin), past = facts_.Of(end);
  const std::optional<Poly> high = past ? Poly::Add(*past, Poly(-1)) : std::nullopt;
  if (low && !high && low->IsNonNegative(facts_.non_negative)) facts_.perhaps_never.insert(var.get());
  if (!low || !high) return;
  if (low->IsNonNegative(facts_.non_negative) && facts_.non_negative.insert(var.get()).second)
    non_negative_ = var.get();
  facts_.counters.push_back({var.get(), {*low, *high}});
}

CounterScope::~CounterScope() {
  facts_.bounds.pop_back();
  facts_.counters.resize(outer_);
  facts_.non_negative.erase(non_negative_);
}

}  // namespace kernpack::sdk::ir
