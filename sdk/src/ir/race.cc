#include "ir/race.h"

#include <kernpack/sdk/ir/equal.h>
#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

namespace kernpack::sdk::ir {
namespace {

// The elements that one access touches in one dimension, as a range in terms of what is fixed in an iteration.
struct Span {
  std::optional<Poly> low, high;
};
// Dimension d, or two dimensions that together say one thing.
using Axes = std::pair<size_t, size_t>;
struct Access {
  bool writes;
  std::map<Axes, Span> spans;  // of {d, d}, and of pairs what PairOf() finds. Empty: the whole buffer
};

class Collector : public Visitor {
 public:
  Collector(const IRModule& module, Facts* facts) : module_(module), facts_(*facts), outer_(facts_.counters.size()) {}

  std::map<const BufferNode*, std::vector<Access>> accesses;
  std::set<const void*> inner;  // what an iteration defines for itself
  // The first `let`s of a quotient and of a remainder of a variable, by that variable.
  struct Parts {
    const VarNode *quotient = nullptr, *remainder = nullptr;
    Expr divisor, modulus;
  };
  std::map<const VarNode*, Parts> parts;

  void VisitExpr(const Expr& e) override {
    if (e->op == Op::kLoad || e->op == Op::kMaskedLoad) {
      Add(e->buffer().get(), false, {e->args.begin(), e->args.end() - (e->op == Op::kLoad ? 0 : 2)});
    }
    if (e->op != Op::kReduce) return Visitor::VisitExpr(e);
    const Reduction& r = std::get<Reduction>(e->detail);
    VisitExpr(e->args[0]);
    VisitExpr(e->args[1]);
    Count(r.var, e->args[0], e->args[1], [&] { VisitExpr(e->args[2]); });
  }

  void VisitStmt(const Stmt& s) override {
    if (s->kind == StmtKind::kAlloc) inner.insert(s->buffer.get());
    if (s->kind == StmtKind::kStore) Add(s->buffer.get(), true, {s->args.begin(), s->args.end() - 1});
    if (s->kind == StmtKind::kCall) Calls(*s);
    if (s->kind == StmtKind::kFor) {
      VisitExpr(s->args[0]);
      VisitExpr(s->args[1]);
      Count(s->var, s->args[0], s->args[1], [&] { VisitBlock(s->body); });
      return;
    }
    Visitor::VisitStmt(s);
    if (s->kind == StmtKind::kLet) {
      inner.insert(s->var.get());
      lets_[s->var.get()] = s->args[0];
      AddPart(s->var.get(), s->args[0]);
      if (const std::optional<Poly> value = facts_.Of(s->args[0])) facts_.values[s->var.get()] = *value;
    }
  }

 private:
  const IRModule& module_;
  Facts& facts_;
  const size_t outer_;
  std::unordered_map<const VarNode*, Expr> lets_;

  template <class F>
  void Count(const Var& var, const Expr& begin, const Expr& end, F body) {
    inner.insert(var.get());
    const CounterScope counting(&facts_, var, begin, end);
    body();
  }

  void Add(const BufferNode* buffer, bool writes, const std::vector<Expr>& indices) {
    Access a{writes, {}};
    for (size_t d = 0; d < indices.size(); ++d) {
      a.spans[{d, d}] = SpanOf(indices[d]);
      const Expr quotient = Meaning(indices[d]);
      if (quotient->op != Op::kDiv) continue;
      for (size_t e = 0; e < indices.size(); ++e) {
        const Span span = PairOf(quotient, Meaning(indices[e]));
        if (span.low) a.spans[{d, e}] = span;
      }
    }
    accesses[buffer].push_back(std::move(a));
  }

  void AddPart(const VarNode* var, const Expr& value) {
    if ((value->op != Op::kDiv && value->op != Op::kRem) || value->args[0]->op != Op::kVar) return;
    Parts& all = parts[value->args[0]->var().get()];
    const bool divides = value->op == Op::kDiv;
    const VarNode*& known = divides ? all.quotient : all.remainder;
    if (known) return;
    known = var;
    (divides ? all.divisor : all.modulus) = value->args[1];
  }

  Expr Meaning(const Expr& e) const {
    const auto found = e->op == Op::kVar ? lets_.find(e->var().get()) : lets_.end();
    return found == lets_.end() ? e : found->second;
  }

  // Of two indices that are e / n and e % n, the values of e: where these differ, one of the two does.
  Span PairOf(const Expr& quotient, const Expr& rest) const {
    const bool pair =
        rest->op == Op::kRem && Equal(quotient->args[0], rest->args[0]) && Equal(quotient->args[1], rest->args[1]);
    return pair ? SpanOf(quotient->args[0]) : Span();
  }

  Span SpanOf(const Expr& index) const {
    std::optional<Poly> low = facts_.Of(index->op == Op::kRamp ? index->args[0] : index), high = low;
    if (index->op == Op::kRamp) {
      int64_t stride = 0;
      if (!low || !IsConstInt(index->args[1], &stride) || stride < 0 || stride > (1 << 20)) return {};
      high = Poly::Add(*low, Poly(stride * (index->type.lanes - 1)));
    }
    if (!low || !high) return {};
    return {facts_.Extreme(*low, false, outer_), facts_.Extreme(*high, true, outer_)};
  }

  void Calls(const StmtNode& s) {
    const FuncNode* callee = module_.Find(s.name);
    size_t next = 0;
    for (const Param& p : callee->params) {
      if (p.buffer && next < s.buffers.size())
        accesses[s.buffers[next++].get()].push_back({p.role != Role::kInput, {}});
    }
  }
};

// Bounds that differ from each other by constants, and the outermost of those: by their terms with variables.
using Outermost = std::map<std::map<Term, int64_t>, int64_t>;

void Widen(Outermost* bounds, const Poly& bound, bool upwards) {
  std::map<Term, int64_t> terms = bound.terms();
  const auto constant = terms.find(Term());
  const int64_t value = constant == terms.end() ? 0 : constant->second;
  if (constant != terms.end()) terms.erase(constant);
  const auto [known, is_new] = bounds->emplace(std::move(terms), value);
  if (!is_new) known->second = upwards ? std::max(known->second, value) : std::min(known->second, value);
}

std::optional<Poly> BoundOf(const Outermost::value_type& bound) {
  return Poly::Add(Poly(bound.second), Poly(bound.first));
}

// Whether in one place two iterations can never touch the same element: indices are coefficient * var + something narrower.
bool Disjoint(const std::vector<Access>& all, const Axes& axes, const VarNode* var, const Facts& facts,
              const std::set<const void*>& inner) {
  constexpr size_t kMostCompared = 1 << 16;
  std::optional<Poly> stride;
  Outermost lows, highs;
  for (const Access& a : all) {
    const auto found = a.spans.find(axes);
    if (found == a.spans.end() || !found->second.low || !found->second.high) return false;
    Poly cl, ch, low, high;
    if (!found->second.low->Split(var, &cl, &low) || !found->second.high->Split(var, &ch, &high)) return false;
    for (const Poly* p : {&cl, &ch, &low, &high}) {
      for (const auto& [term, c] : p->terms()) {
        for (const VarNode* v : term) {
          if (inner.count(v)) return false;
        }
      }
    }
    if (cl.terms() != ch.terms() || (stride && stride->terms() != cl.terms())) return false;
    stride = cl;
    Widen(&lows, low, false);
    Widen(&highs, high, true);
  }
  if (!stride || lows.size() * highs.size() > kMostCompared) return false;
  if (stride->IsNegative(facts.non_negative)) {
    stride = Poly::Add(Poly(), *stride, -1);
  }
  if (!stride || !stride->IsNonNegative(facts.non_negative)) return false;
  for (const auto& least : lows) {
    for (const auto& most : highs) {
      const std::optional<Poly> low = BoundOf(least), high = BoundOf(most);
      const std::optional<Poly> width = low && high ? Poly::Add(*high, *low, -1) : std::nullopt;
      const std::optional<Poly> excess = width ? Poly::Add(*width, *stride, -1) : std::nullopt;
      if (!excess || !excess->IsNegative(facts.non_negative)) return false;
    }
  }
  return true;
}

// The iterations of one loop, told apart by what they touch.
class Iterations {
 public:
  Iterations(const StmtNode& loop, const Collector& collector, const Facts& facts)
      : loop_(loop), collector_(collector), facts_(facts) {
    AddFactors(loop.args[1]);
  }

  bool AreIndependent(const std::vector<Access>& all) const { return Distinguished(all, loop_.var.get()); }

 private:
  const StmtNode& loop_;
  const Collector& collector_;
  const Facts& facts_;
  std::vector<Expr> factors_;  // of the loop's end: without one of them that is 0, none runs

  void AddFactors(const Expr& e) {
    if (e->op != Op::kMul) return factors_.push_back(e);
    AddFactors(e->args[0]);
    AddFactors(e->args[1]);
  }

  // A division by 0 gives 0, as does its remainder: they tell nothing apart.
  bool IsNotZero(const Expr& divisor) const {
    int64_t value = 0;
    return IsConstInt(divisor, &value)
               ? value != 0
               : std::any_of(factors_.begin(), factors_.end(), [&](const Expr& f) { return Equal(f, divisor); });
  }

  // Whether what is touched differs wherever the values of var do: in one place, or because the values of var / n and of
  // var % n are told apart, each in a place of its own. That is what loops look like which became one.
  bool Distinguished(const std::vector<Access>& all, const VarNode* var, int depth = 0) const {
    constexpr int kMostDepth = 8;
    for (const auto& place : all[0].spans) {
      if (Disjoint(all, place.first, var, facts_, collector_.inner)) return true;
    }
    const auto found = collector_.parts.find(var);
    if (found == collector_.parts.end() || depth == kMostDepth) return false;
    const Collector::Parts& parts = found->second;
    return parts.quotient && parts.remainder && Equal(parts.divisor, parts.modulus) && IsNotZero(parts.divisor) &&
           Distinguished(all, parts.quotient, depth + 1) && Distinguished(all, parts.remainder, depth + 1);
  }
};

}  // namespace

const BufferNode* FindRace(const IRModule& module, const StmtNode& loop, Facts* facts) {
  const std::optional<Poly> low = facts->Of(loop.args[0]);
  const bool counts_up = low && low->IsNonNegative(facts->non_negative);
  const bool is_new = counts_up && facts->non_negative.insert(loop.var.get()).second;
  Collector collector(module, facts);
  collector.VisitBlock(loop.body);
  const Iterations iterations(loop, collector, *facts);
  const BufferNode* race = nullptr;
  for (const auto& [buffer, all] : collector.accesses) {
    if (collector.inner.count(buffer)) continue;
    if (std::none_of(all.begin(), all.end(), [](const Access& a) { return a.writes; })) continue;
    if (iterations.AreIndependent(all)) continue;
    race = buffer;
    break;
  }
  if (is_new) facts->non_negative.erase(loop.var.get());
  return race;
}

}  // namespace kernpack::sdk::ir
