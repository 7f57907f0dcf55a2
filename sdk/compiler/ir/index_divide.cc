// Quotients and remainders of indices.
#include <algorithm>
#include <utility>

#include "ir/index_form.h"

namespace kernpack::sdk::ir {
namespace {

constexpr int kMostDepth = 8;
constexpr size_t kMostDigits = 16;
constexpr size_t kMostKnown = 1024;

// a / b of one term; nothing where b does not divide it.
std::optional<std::pair<Term, int64_t>> Quotient(const Term& a, int64_t c, const Term& b, int64_t d) {
  if (d == 0 || c % d != 0 || !std::includes(a.begin(), a.end(), b.begin(), b.end())) return std::nullopt;
  Term rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest));
  return std::pair(std::move(rest), c / d);
}

// The variable that this is; null when it is more.
const VarNode* FindVariable(const Poly& p) {
  if (p.terms().size() != 1) return nullptr;
  const auto& [term, c] = *p.terms().begin();
  return term.size() == 1 && c == 1 ? term[0] : nullptr;
}

}  // namespace

Division DivideTerms(const Poly& given, const Poly& divisor, bool constants) {
  Division out{Poly(), given};
  if (divisor.terms().empty()) return out;
  // The term with the most factors is in what a product with the divisor leaves.
  const auto lead = std::max_element(divisor.terms().begin(), divisor.terms().end(),
                                     [](const auto& a, const auto& b) { return a.first.size() < b.first.size(); });
  for (const auto& [term, c] : given.terms()) {
    const auto part = Quotient(term, c, lead->first, lead->second);
    if (!part || (term.empty() && !constants)) continue;
    const Poly one(std::map<Term, int64_t>{{part->first, part->second}});
    const std::optional<Poly> product = Poly::Multiply(one, divisor);
    const std::optional<Poly> rest = product ? Poly::Add(out.rest, *product, -1) : std::nullopt;
    const std::optional<Poly> quotient = rest ? Poly::Add(out.quotient, one) : std::nullopt;
    if (!quotient || rest->terms().size() >= out.rest.terms().size()) continue;
    out = {*quotient, *rest};
  }
  const std::optional<int64_t> n = divisor.Constant();
  const auto constant = out.rest.terms().find(Term());
  if (constants && n && *n > 0 && constant != out.rest.terms().end()) {
    const int64_t c = constant->second, whole = c / *n - (c % *n < 0 ? 1 : 0);
    const std::optional<Poly> rest = Poly::Add(out.rest, Poly(1), -whole * *n);
    const std::optional<Poly> quotient = Poly::Add(out.quotient, Poly(whole));
    if (rest && quotient) out = {*quotient, *rest};
  }
  return out;
}

// Where the dividend may be negative and the quotient truncates, little is known.
std::optional<Division> IndexForms::Divide(const Poly& given, const Poly& by, bool truncates, int depth) {
  const std::optional<Poly> e = Resolved(given), n = Resolved(by);
  if (!e || !n || depth > kMostDepth || known_.size() > kMostKnown || !IsFixed(*n)) return std::nullopt;
  if (!IsPositive(*n)) return IsFixed(*e) ? std::optional(Opaque(*e, *n, truncates, depth)) : std::nullopt;
  const std::optional<Poly> low = Extreme(*e, false);
  if (truncates && !(low && IsNonNegative(*low))) {
    if (IsFixed(*e)) return Opaque(*e, *n, true, depth);
    const Key key{given.terms(), n->terms(), kTruncated};
    if (const auto cut = known_.find(key); cut != known_.end()) return cut->second;
    const VarNode* variable = FindVariable(*e);
    const std::optional<Division> made = digits_.count(variable) ? Cut(variable, *n, true, depth) : std::nullopt;
    if (made) known_[key] = *made;
    return made;
  }
  // (n * q + r) // n is q + r // n, and the remainder is that of r.
  const Division whole = DivideTerms(*e, *n, true);
  if (IsWithin(whole.rest, *n)) return whole;
  const std::optional<Poly> next = Poly::Add(whole.rest, *n), before = Poly::Add(whole.quotient, Poly(-1));
  if (next && before && IsWithin(*next, *n)) return Division{*before, *next};
  const VarNode* variable = FindVariable(whole.rest);
  std::optional<Division> part;
  if (digits_.count(variable)) {
    part = Cut(variable, *n, false, depth);
  } else {
    part = ByCommonFactor(whole.rest, *n, depth);
    if (!part) part = Opaque(whole.rest, *n, false, depth);
  }
  const std::optional<Poly> quotient = part ? Poly::Add(whole.quotient, part->quotient) : std::nullopt;
  return quotient ? std::optional(Division{*quotient, part->rest}) : std::nullopt;
}

// x = n * q + r. Truncating, r has the sign of x. That is so wherever x is used, so what holds at one place says nothing.
std::optional<Division> IndexForms::Cut(const VarNode* digit, const Poly& divisor, bool truncates, int depth) {
  struct Unassumed {
    VarNodes& assumed;
    VarNodes kept = std::exchange(assumed, {});
    ~Unassumed() { assumed = std::move(kept); }
  } unassumed{assumed_};
  if (digits_.size() >= kMostDigits || !IsPositive(divisor)) return std::nullopt;
  const Range range = varying_.at(digit);
  const bool not_negative = range.low && IsNonNegative(*range.low);
  std::optional<Poly> low, high;
  if (not_negative) low = Poly();
  if (range.high && !truncates) {
    if (const std::optional<Division> most = Divide(*range.high, divisor, false, depth + 1)) high = most->quotient;
  }
  const std::optional<Poly> most = Poly::Add(divisor, Poly(-1)), least = Poly::Add(Poly(1), divisor, -1);
  const VarNode *quotient = Make("quotient", not_negative), *rest = Make("rest", !truncates);
  const std::optional<Poly> scaled = Poly::Multiply(divisor, Poly(quotient));
  const std::optional<Poly> sum = scaled ? Poly::Add(*scaled, Poly(rest)) : std::nullopt;
  if (!sum) return std::nullopt;
  varying_[quotient] = {low, high, 0};
  varying_[rest] = {truncates ? least : Poly(), most, 0};
  parts_[digit] = *sum;
  digits_.erase(digit);
  digits_.insert({quotient, rest});
  return Division{Poly(quotient), Poly(rest)};
}

// (g * q + r) // (g * n) is q // n where r is in [0, g).
std::optional<Division> IndexForms::ByCommonFactor(const Poly& rest, const Poly& divisor, int depth) {
  for (const auto& [term, c] : rest.terms()) {
    Term fixed;
    std::copy_if(term.begin(), term.end(), std::back_inserter(fixed), [&](const VarNode* v) { return !Varies(v); });
    if (fixed.size() == term.size() || (fixed.empty() && (c == 1 || c == -1))) continue;
    const Poly factor(std::map<Term, int64_t>{{fixed, c < 0 ? -c : c}});
    const Division outer = DivideTerms(divisor, factor, true);
    if (!outer.rest.terms().empty() || !IsPositive(factor)) continue;
    const Division inner = DivideTerms(rest, factor, true);
    if (!IsWithin(inner.rest, factor)) continue;
    const std::optional<Division> part = Divide(inner.quotient, outer.quotient, false, depth + 1);
    const std::optional<Poly> scaled = part ? Poly::Multiply(factor, part->rest) : std::nullopt;
    const std::optional<Poly> sum = scaled ? Poly::Add(*scaled, inner.rest) : std::nullopt;
    if (sum) return Division{part->quotient, *sum};
  }
  return std::nullopt;
}

// Variables of their own, the same for equal operands.
Division IndexForms::Opaque(const Poly& given, const Poly& divisor, bool truncates, int depth) {
  const auto [known, is_new] = known_.try_emplace({given.terms(), divisor.terms(), truncates ? kTruncates : kFloors});
  if (!is_new) return known->second;
  const std::optional<Poly> low = Extreme(given, false), high = Extreme(given, true);
  const bool not_negative = low && IsNonNegative(*low) && IsNonNegative(divisor);
  const bool is_positive = IsPositive(divisor);
  const VarNode *quotient = Make("quotient", not_negative),
                *rest = Make("rest", not_negative || (!truncates && is_positive));
  Division& out = known->second;
  out = {Poly(quotient), Poly(rest)};
  if (IsFixed(given)) {
    if (is_positive && not_negative) quotients_.emplace(quotient, std::pair(given, divisor));
    return out;
  }
  const auto part = [&](const std::optional<Poly>& end) {
    const std::optional<Division> d = end ? Divide(*end, divisor, false, depth + 1) : std::nullopt;
    return d ? std::optional(d->quotient) : std::nullopt;
  };
  varying_[quotient] = {not_negative ? Poly() : part(low), part(high), 0};
  varying_[rest] = {Poly(), Poly::Add(divisor, Poly(-1)), 0};
  pairs_.push_back({quotient, rest, divisor, given});
  return out;
}

}  // namespace kernpack::sdk::ir
