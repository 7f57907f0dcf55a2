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
struct Access {
  bool writes;
  std::vector<Span> dims;  // empty: the whole buffer. After the dimensions: for each two of them, what PairOf() finds
};

class Collector : public Visitor {
 public:
  Collector(const IRModule& module, Facts facts)
      : module_(module), facts_(std::move(facts)), outer_(facts_.counters.size()) {}

  std::map<const BufferNode*, std::vector<Access>> accesses;
  std::set<const void*> inner;  // what an iteration defines for itself

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
      if (const std::optional<Poly> value = facts_.Of(s->args[0])) facts_.values[s->var.get()] = *value;
    }
  }

 private:
  const IRModule& module_;
  Facts facts_;
  const size_t outer_;
  std::unordered_map<const VarNode*, Expr> lets_;

  template <class F>
  void Count(const Var& var, const Expr& begin, const Expr& end, F body) {
    inner.insert(var.get());
    const size_t before = facts_.counters.size();
    facts_.AddCounter(var, begin, end);
    body();
    facts_.counters.resize(before);
  }

  void Add(const BufferNode* buffer, bool writes, const std::vector<Expr>& indices) {
    Access a{writes, {}};
    for (const Expr& index : indices) a.dims.push_back(SpanOf(index));
    for (const Expr& first : indices) {
      for (const Expr& second : indices) a.dims.push_back(PairOf(Meaning(first), Meaning(second)));
    }
    accesses[buffer].push_back(std::move(a));
  }

  Expr Meaning(const Expr& e) const {
    const auto found = e->op == Op::kVar ? lets_.find(e->var().get()) : lets_.end();
    return found == lets_.end() ? e : found->second;
  }

  // Of two indices that are e / n and e % n, the values of e: where these differ, one of the two does.
  Span PairOf(const Expr& quotient, const Expr& rest) const {
    const bool pair = quotient->op == Op::kDiv && rest->op == Op::kRem && Equal(quotient->args[0], rest->args[0]) &&
                      Equal(quotient->args[1], rest->args[1]);
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

// Whether in dimension d two iterations can never touch the same element: indices are coefficient * var + something
// narrower.
bool Disjoint(const std::vector<Access>& all, size_t d, const VarNode* var, const Facts& facts,
              const std::set<const void*>& inner) {
  std::optional<Poly> stride;
  std::vector<std::pair<Poly, Poly>> rests;
  for (const Access& a : all) {
    if (d >= a.dims.size() || !a.dims[d].low || !a.dims[d].high) return false;
    Poly cl, ch, low, high;
    if (!a.dims[d].low->Split(var, &cl, &low) || !a.dims[d].high->Split(var, &ch, &high)) return false;
    for (const Poly* p : {&cl, &ch, &low, &high}) {
      for (const auto& [term, c] : p->terms()) {
        for (const VarNode* v : term) {
          if (inner.count(v)) return false;
        }
      }
    }
    if (cl.terms() != ch.terms() || (stride && stride->terms() != cl.terms())) return false;
    stride = cl;
    rests.emplace_back(low, high);
  }
  if (!stride) return false;
  if (stride->IsNegative(facts.non_negative)) {
    stride = Poly::Add(Poly(), *stride, -1);
  }
  if (!stride || !stride->IsNonNegative(facts.non_negative)) return false;
  for (const auto& [low, unused] : rests) {
    for (const auto& [unused_too, high] : rests) {
      const std::optional<Poly> width = Poly::Add(high, low, -1);
      const std::optional<Poly> excess = width ? Poly::Add(*width, *stride, -1) : std::nullopt;
      if (!excess || !excess->IsNegative(facts.non_negative)) return false;
    }
  }
  return true;
}

}  // namespace

const BufferNode* FindRace(const IRModule& module, const StmtNode& loop, Facts facts) {
  const std::optional<Poly> low = facts.Of(loop.args[0]);
  if (low && low->IsNonNegative(facts.non_negative)) facts.non_negative.insert(loop.var.get());
  Collector collector(module, facts);
  collector.VisitBlock(loop.body);
  for (const auto& [buffer, all] : collector.accesses) {
    if (collector.inner.count(buffer)) continue;
    if (std::none_of(all.begin(), all.end(), [](const Access& a) { return a.writes; })) continue;
    bool proved = false;
    const size_t rank = buffer->shape.size();
    for (size_t d = 0; d < rank + rank * rank && !proved; ++d)
      proved = Disjoint(all, d, loop.var.get(), facts, collector.inner);
    if (!proved) return buffer;
  }
  return nullptr;
}

}  // namespace kernpack::sdk::ir
