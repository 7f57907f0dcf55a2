// The innermost statement of a stage.
#include "ir/take_in.h"
#include "schedule/arithmetic.h"
#include "schedule/lower.h"

namespace kernpack::sdk::ir {

// Writes axes as their values and loads of stages as loads of where they are kept, with indices in their simplest form.
class BodyWriter : public Mutator {
 public:
  BodyWriter(Lowerer* lowerer, std::unordered_map<const VarNode*, Expr> values) : lowerer_(*lowerer) {
    substitution_ = std::move(values);
  }

  Expr MutateExpr(const Expr& e) override {
    if (e->op == Op::kReduce) return Reduced(e);
    if ((e->op == Op::kDiv || e->op == Op::kRem) && e->type == kI64) return Divided(Mutator::MutateExpr(e));
    const bool masked = e->op == Op::kMaskedLoad;
    if (e->op != Op::kLoad && !masked) return Mutator::MutateExpr(e);
    std::vector<Expr> args = MutateAll(e->args);
    const auto found = lowerer_.kept_.find(e->buffer().get());
    const Buffer buffer = found == lowerer_.kept_.end() ? e->buffer() : found->second.buffer;
    for (size_t d = 0; d < buffer->shape.size(); ++d)
      args[d] = Shifted(args[d], found == lowerer_.kept_.end() ? Poly() : found->second.low[d]);
    // If a schedule keeps the element elsewhere, the access differs from the written one.
    const Position position = buffer == e->buffer() ? e->position : Position();
    if (!masked) return At(position, Load(buffer, std::move(args)));
    const Expr otherwise = args.back(), mask = args[args.size() - 2];
    args.resize(args.size() - 2);
    return At(position, MaskedLoad(buffer, std::move(args), mask, otherwise));
  }

  // index - low
  Expr Shifted(const Expr& index, const Poly& low) const {
    const std::optional<Poly> p = Polynomial(index);
    const std::optional<Poly> shifted = p ? Poly::Add(*p, low, -1) : std::nullopt;
    if (shifted) return lowerer_.regions_.ToExpr(*shifted);
    return Difference(index, lowerer_.regions_.ToExpr(low));
  }

 private:
  Lowerer& lowerer_;

  // Of what ToExpr can write again.
  std::optional<Poly> Polynomial(const Expr& e) const {
    const std::optional<Poly> p = e->type == kI64 ? lowerer_.facts_.Of(e) : std::nullopt;
    if (!p) return p;
    for (const auto& [term, c] : p->terms()) {
      for (const VarNode* v : term) {
        if (!lowerer_.regions_.Knows(v)) return std::nullopt;
      }
    }
    return p;
  }

  Expr Reduced(const Expr& e) {
    const Reduction& r = std::get<Reduction>(e->detail);
    lowerer_.regions_.Know(r.var);
    return Mutator::MutateExpr(e);
  }

  // (q * n + r) / n is q and (q * n + r) % n is r, for q and r from 0 and r less than n.
  Expr Divided(const Expr& e) const {
    int64_t divisor = 0;
    const std::optional<Poly> p = Polynomial(e->args[0]);
    if (!p || !IsConstInt(e->args[1], &divisor) || divisor < 1) return e;
    Poly quotient, rest;
    for (const auto& [term, c] : p->terms()) {
      Poly one(c);
      for (const VarNode* v : term) one = *Poly::Multiply(one, Poly(v));
      if (c % divisor == 0) {
        Poly whole(c / divisor);
        for (const VarNode* v : term) whole = *Poly::Multiply(whole, Poly(v));
        quotient = *Poly::Add(quotient, whole);
      } else {
        rest = *Poly::Add(rest, one);
      }
    }
    const Facts& facts = lowerer_.facts_;
    const std::optional<Poly> most = facts.Extreme(rest, true);
    const std::optional<Poly> over = most ? Poly::Add(*most, Poly(divisor), -1) : std::nullopt;
    const bool fits = over && over->IsNegative(facts.non_negative) && rest.IsNonNegative(facts.non_negative) &&
                      quotient.IsNonNegative(facts.non_negative);
    if (!fits) return e;
    return lowerer_.regions_.ToExpr(e->op == Op::kDiv ? quotient : rest);
  }
};

namespace {

// The one axis of a `reduce` that runs over several in row-major order, and what they are in terms of it.
struct Flattened {
  Var var;
  Expr extent;
  std::unordered_map<const VarNode*, Expr> values;
};

Flattened Flatten(const std::vector<StageAxis>& axes) {
  if (axes.size() == 1) return {axes[0].var, axes[0].extent, {}};
  Flattened f{MakeVar("r", kI64), Expr(1), {}};
  for (const StageAxis& a : axes) f.extent = Product(f.extent, Larger(a.extent, Expr(0)));
  Expr rest(f.var);
  for (auto a = axes.rbegin(); a != axes.rend(); ++a) {
    const bool is_first = a + 1 == axes.rend();
    f.values[a->var.get()] = is_first ? rest : rest % a->extent;
    if (!is_first) rest = rest / a->extent;
  }
  return f;
}

}  // namespace

Expr Lowerer::WriteBody(const StageState& s, const std::vector<Poly>& base,
                        std::unordered_map<const VarNode*, Expr> values) {
  for (size_t a = 0; a < s.Roots(); ++a) {
    const bool spatial = a < s.stage.spatial.size();
    const Poly p = regions_.AxisPoly(s, a);
    values.try_emplace(s.axes[a].var.get(), regions_.ToExpr(spatial ? *Poly::Add(p, base[a]) : p));
  }
  return BodyWriter(this, std::move(values)).MutateExpr(s.stage.body);
}

void Lowerer::EmitBody(const Nest& nest, Block* out) {
  const StageState& s = *nest.stage;
  const Kept& kept = kept_.at(s.stage.buffer.get());
  std::vector<Expr> indices;
  for (size_t a = 0; a < s.stage.spatial.size(); ++a) {
    const Poly p = *Poly::Add(regions_.AxisPoly(s, a), nest.base[a]);
    indices.push_back(regions_.ToExpr(*Poly::Add(p, kept.low[a], -1)));
  }
  const Type element = s.stage.buffer->element;
  Expr value;
  if (nest.is_initial) {
    value = Const(element, IdentityOf(s.stage.combine->op, element));
  } else if (s.stage.combine && !s.HasReductionLoops(state_)) {
    const Flattened f = Flatten(s.stage.reduced);
    regions_.Know(f.var);
    const Expr body = WriteBody(s, nest.base, f.values);
    value = ir::Reduce(s.stage.combine->op, f.var, Expr(0), f.extent, s.stage.combine->lanes, body);
  } else {
    value = WriteBody(s, nest.base, {});
    if (s.stage.combine) value = TakeIn(s.stage.combine->op, Load(kept.buffer, indices), value);
  }
  const Stmt store = Store(kept.buffer, indices, value);
  out->push_back(nest.late ? If(nest.late, {store}) : store);
}

}  // namespace kernpack::sdk::ir
