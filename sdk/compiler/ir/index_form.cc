#include "ir/index_form.h"

#include <kernpack/sdk/ir/expr.h>

#include <algorithm>

namespace kernpack::sdk::ir {
namespace {

constexpr int kMostNested = 4;  // quotients of quotients

}  // namespace

IndexForms::IndexForms(Facts* facts, const StmtNode& loop) : facts_(*facts) {
  for (const auto& [begin, end] : facts_.bounds) NoteRuns(Bound(begin, false), Bound(end, true), &not_zero_);
  const std::optional<Poly> low = Bound(loop.args[0], false), past = Bound(loop.args[1], true);
  NoteRuns(low, past, &not_zero_);
  varying_[loop.var.get()] = {low, past ? Poly::Add(*past, Poly(-1)) : std::nullopt, 0};
  if (low && IsNonNegative(*low)) AddNonNegative(loop.var.get());
  digits_.insert(loop.var.get());
}

IndexForms::~IndexForms() {
  for (const VarNode* var : added_) facts_.non_negative.erase(var);
}

void IndexForms::AddNonNegative(const VarNode* var) {
  if (facts_.non_negative.insert(var).second) added_.push_back(var);
}

const VarNode* IndexForms::Make(const char* name, bool is_non_negative) {
  made_.push_back(MakeVar(name, kI64));
  if (is_non_negative) AddNonNegative(made_.back().get());
  return made_.back().get();
}

void IndexForms::NoteRuns(const std::optional<Poly>& low, const std::optional<Poly>& past, VarNodes* not_zero) {
  const std::optional<Poly> count = low && past ? Poly::Add(*past, *low, -1) : std::nullopt;
  if (count) NotePositive(*count, not_zero);
}

// Of what is 1 at least: a variable that divides what is added in it is not 0. A quotient is not 0 where its dividend is
// its divisor at least.
void IndexForms::NotePositive(const Poly& p, VarNodes* not_zero, int depth) {
  std::map<Term, int64_t> added = p.terms();
  for (const auto& [term, c] : p.terms()) {
    if (c < 0 && Poly(std::map<Term, int64_t>{{term, 1}}).IsNonNegative(facts_.non_negative)) added.erase(term);
  }
  if (added.empty() || depth > kMostNested) return;
  for (const VarNode* v : Term(added.begin()->first)) {
    const auto divides = [&](const auto& t) { return std::count(t.first.begin(), t.first.end(), v) != 0; };
    if (!std::all_of(added.begin(), added.end(), divides) || Varies(v) || !not_zero->insert(v).second) continue;
    const auto quotient = quotients_.find(v);
    if (quotient == quotients_.end()) continue;
    const auto [dividend, divisor] = quotient->second;
    NotePositive(dividend, not_zero, depth + 1);
    const std::optional<Poly> more = Poly::Add(dividend, divisor, -1);
    if (const std::optional<Poly> one = more ? Poly::Add(*more, Poly(1)) : std::nullopt)
      NotePositive(*one, not_zero, depth + 1);
  }
}

bool IndexForms::IsNonNegative(const Poly& p) const {
  if (p.IsNonNegative(facts_.non_negative)) return true;
  // In terms of how much variables are more than 1, where they are 1 at least.
  std::optional<Poly> sum = Poly();
  for (const auto& [term, c] : p.terms()) {
    std::optional<Poly> product = Poly(c);
    for (const VarNode* v : term) {
      const bool is_positive = IsNotZero(v) && facts_.non_negative.count(v);
      product = product ? Poly::Multiply(*product, is_positive ? *Poly::Add(Poly(v), Poly(1)) : Poly(v)) : product;
    }
    sum = sum && product ? Poly::Add(*sum, *product) : std::nullopt;
  }
  return sum && sum->IsNonNegative(facts_.non_negative);
}

bool IndexForms::IsNegative(const Poly& p) const {
  const std::optional<Poly> flipped = Poly::Add(Poly(-1), p, -1);
  return flipped && IsNonNegative(*flipped);
}

// A value that e does not pass, upwards or downwards.
std::optional<Poly> IndexForms::Bound(const Expr& e, bool largest) {
  if (e->op == (largest ? Op::kMin : Op::kMax)) {  // either will do: a constant if there is one
    const std::optional<Poly> a = Bound(e->args[0], largest), b = Bound(e->args[1], largest);
    return b && (!a || b->Constant()) ? b : a;
  }
  return Of(e);
}

void IndexForms::Count(const Var& var, const Expr& begin, const Expr& end) {
  const std::optional<Poly> low = Bound(begin, false), past = Bound(end, true);
  varying_[var.get()] = {low, past ? Poly::Add(*past, Poly(-1)) : std::nullopt, varying_.size()};
  if (low && IsNonNegative(*low)) AddNonNegative(var.get());
  NoteRuns(low, past, &assumed_);
}

void IndexForms::Bind(const Var& var, const Expr& value) { values_[var.get()] = value ? Of(value) : std::nullopt; }

std::optional<Poly> IndexForms::Of(const Expr& e) {
  if (!IsInteger(e->type)) return std::nullopt;
  int64_t value = 0;
  if (IsConstInt(e, &value)) return Poly(value);
  switch (e->op) {
    case Op::kVar: {
      const VarNode* var = e->var().get();
      if (const auto inside = values_.find(var); inside != values_.end()) return inside->second;
      if (facts_.perhaps_never.count(var)) AddNonNegative(var);
      const auto outside = facts_.values.find(var);
      return outside == facts_.values.end() ? Poly(var) : outside->second;
    }
    case Op::kCast:
      return OfCast(e);
    case Op::kBroadcast:
      return Of(e->args[0]);
    case Op::kMin:
    case Op::kMax:
      return OfLimit(e);
    default:
      break;
  }
  if (e->op == Op::kRamp) {
    const std::optional<Poly> base = Of(e->args[0]), stride = Of(e->args[1]);
    const VarNode* lane = Make("lane", true);
    varying_[lane] = {Poly(), Poly(e->type.lanes - 1), varying_.size()};
    const std::optional<Poly> steps = stride ? Poly::Multiply(*stride, Poly(lane)) : std::nullopt;
    return base && steps ? Poly::Add(*base, *steps) : std::nullopt;
  }
  if (e->op == Op::kXor) return OfFlipped(e);
  const bool truncates = e->op == Op::kDiv || e->op == Op::kRem,
             floors = e->op == Op::kFloorDiv || e->op == Op::kFloorMod;
  if (!truncates && !floors && e->op != Op::kAdd && e->op != Op::kSub && e->op != Op::kMul) return std::nullopt;
  const std::optional<Poly> a = Of(e->args[0]), b = Of(e->args[1]);
  if (!a || !b) return std::nullopt;
  if (truncates || floors) {
    const std::optional<Division> parts = Divide(*a, *b, truncates);
    if (!parts) return std::nullopt;
    return e->op == Op::kDiv || e->op == Op::kFloorDiv ? parts->quotient : parts->rest;
  }
  const std::optional<Poly> made =
      e->op == Op::kMul ? Poly::Multiply(*a, *b) : Poly::Add(*a, *b, e->op == Op::kAdd ? 1 : -1);
  return made && Fits(*made, e->type) ? made : std::nullopt;
}

// e ^ c for a constant: each bit of c takes 2^k away where e has it, and adds 2^k where it doesn't. Of two's complement.
std::optional<Poly> IndexForms::OfFlipped(const Expr& e) {
  int64_t bits = 0;
  const bool is_second = IsConstInt(e->args[1], &bits);
  if ((!is_second && !IsConstInt(e->args[0], &bits)) || bits < 0) return std::nullopt;
  const std::optional<Poly> value = Of(e->args[is_second ? 0 : 1]);
  std::optional<Poly> out = value;
  for (int k = 0; out && k < 62 && bits >> k; ++k) {
    if (!(bits >> k & 1)) continue;
    const int64_t weight = int64_t{1} << k;
    const std::optional<Division> above = Divide(*value, Poly(weight), false);
    const std::optional<Division> bit = above ? Divide(above->quotient, Poly(2), false) : std::nullopt;
    out = bit ? Poly::Add(*out, Poly(weight)) : std::nullopt;
    if (out) out = Poly::Add(*out, bit->rest, -2 * weight);
  }
  return bits >> 62 ? std::nullopt : out;
}

// Of conversions that keep the value.
std::optional<Poly> IndexForms::OfCast(const Expr& e) {
  const Type from = e->args[0]->type, to = e->type;
  if (!IsInteger(from) || to.bits < from.bits) return std::nullopt;
  std::optional<Poly> p = Of(e->args[0]);
  if (!p || IsSigned(from) == IsSigned(to) || (IsSigned(to) && to.bits > from.bits)) return p;
  const std::optional<Poly> low = IsSigned(from) ? Extreme(*p, false) : std::nullopt;
  return low && IsNonNegative(*low) ? p : std::nullopt;
}

// True if arithmetic in the type doesn't overflow. Indices of 32 bits and more are assumed not to overflow, unless they
// certainly may; an unsigned value must not fall below 0.
bool IndexForms::Fits(const Poly& p, Type type) const {
  if (type.bits == 64 && IsSigned(type)) return true;
  const std::optional<Poly> low = Extreme(p, false), high = Extreme(p, true);
  if (!IsSigned(type) && !(low && IsNonNegative(*low))) return false;
  if (type.bits == 64) return true;
  const std::optional<int64_t> least = low ? low->Constant() : std::nullopt,
                               most = high ? high->Constant() : std::nullopt;
  const int bits = IsSigned(type) ? type.bits - 1 : type.bits;
  if (least && *least < -(int64_t{1} << bits)) return false;
  if (most && *most >= int64_t{1} << bits) return false;
  return (least && most) || type.bits >= 32;
}

// min and max of what is fixed is fixed.
std::optional<Poly> IndexForms::OfLimit(const Expr& e) {
  const std::optional<Poly> a = Of(e->args[0]), b = Of(e->args[1]);
  const std::optional<Poly> excess = a && b ? Poly::Add(*a, *b, -1) : std::nullopt;
  const std::optional<Poly> lack = a && b ? Poly::Add(*b, *a, -1) : std::nullopt;
  if (!excess || !lack) return std::nullopt;
  const bool largest = e->op == Op::kMax;
  if (IsNonNegative(*excess)) return largest ? a : b;
  if (IsNonNegative(*lack)) return largest ? b : a;
  if (!IsFixed(*a) || !IsFixed(*b)) return std::nullopt;
  const bool not_negative = largest ? IsNonNegative(*a) || IsNonNegative(*b) : IsNonNegative(*a) && IsNonNegative(*b);
  const auto [known, is_new] = known_.try_emplace({a->terms(), b->terms(), largest ? kLarger : kSmaller});
  if (is_new) known->second.quotient = Poly(Make("limit", not_negative));
  return known->second.quotient;
}

bool IndexForms::IsFixed(const Poly& p) const {
  return std::none_of(p.terms().begin(), p.terms().end(), [&](const auto& t) {
    return std::any_of(t.first.begin(), t.first.end(), [&](const VarNode* v) { return Varies(v); });
  });
}

bool IndexForms::IsPositive(const Poly& p) const {
  return IsNonNegative(p) && std::any_of(p.terms().begin(), p.terms().end(), [&](const auto& t) {
           return std::all_of(t.first.begin(), t.first.end(), [&](const VarNode* v) { return IsNotZero(v); });
         });
}

bool IndexForms::IsWithin(const Poly& p, const Poly& count) const {
  const std::optional<Poly> low = Extreme(p, false), high = Extreme(p, true);
  const std::optional<Poly> over = high ? Poly::Add(*high, count, -1) : std::nullopt;
  return low && over && IsNonNegative(*low) && IsNegative(*over);
}

bool IndexForms::IsSingle(const VarNode* digit) const {
  const Range& range = varying_.at(digit);
  const std::optional<Poly> width = range.low && range.high ? Poly::Add(*range.high, *range.low, -1) : std::nullopt;
  return width && width->Constant() == 0;
}

std::optional<Poly> IndexForms::Resolved(Poly p) const {
  for (bool again = true; again;) {
    again = false;
    for (const auto& [var, parts] : parts_) {
      if (!p.Uses(var)) continue;
      Poly coefficient, rest;
      if (!p.Split(var, &coefficient, &rest)) return std::nullopt;
      const std::optional<Poly> scaled = Poly::Multiply(coefficient, parts);
      const std::optional<Poly> sum = scaled ? Poly::Add(rest, *scaled) : std::nullopt;
      if (!sum) return std::nullopt;
      p = *sum;
      again = true;
    }
  }
  return p;
}

std::optional<Poly> IndexForms::Extreme(const Poly& given, bool largest, const VarNodes& kept) const {
  std::optional<Poly> p = Resolved(given);
  while (p) {
    // The innermost variable first: its range may name the others.
    const VarNode* last = nullptr;
    for (const auto& [term, c] : p->terms()) {
      for (const VarNode* v : term) {
        if (!Varies(v) || kept.count(v)) continue;
        if (!last || varying_.at(v).order > varying_.at(last).order) last = v;
      }
    }
    if (!last) return p;
    Poly coefficient, rest;
    if (!p->Split(last, &coefficient, &rest)) return std::nullopt;
    const std::optional<Poly> flipped = Poly::Add(Poly(), coefficient, -1);
    const bool up = IsNonNegative(coefficient);
    if (!up && !(flipped && IsNonNegative(*flipped))) return std::nullopt;
    const std::optional<Poly>& end = up == largest ? varying_.at(last).high : varying_.at(last).low;
    const std::optional<Poly> part = end ? Poly::Multiply(coefficient, *end) : std::nullopt;
    const std::optional<Poly> sum = part ? Poly::Add(rest, *part) : std::nullopt;
    p = sum ? Resolved(*sum) : std::nullopt;
  }
  return p;
}

}  // namespace kernpack::sdk::ir
