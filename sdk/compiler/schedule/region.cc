#include "schedule/region.h"

#include <kernpack/sdk/ir/equal.h>
#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

#include "schedule/arithmetic.h"

namespace kernpack::sdk::ir {

const Relation* FindParts(const StageState& s, size_t axis) {
  for (const Relation& r : s.relations) {
    if (r.kind == Relation::kSplit ? r.whole == axis : r.outer == axis || r.inner == axis) return &r;
  }
  return nullptr;
}

bool IsCovered(const StageState& s, size_t axis, const std::vector<size_t>& leaves) {
  const Relation* r = FindParts(s, axis);
  if (!r) return std::count(leaves.begin(), leaves.end(), axis) != 0;
  if (r->kind == Relation::kFuse) return IsCovered(s, r->whole, leaves);
  return IsCovered(s, r->outer, leaves) && IsCovered(s, r->inner, leaves);
}

Regions::Regions(const ScheduleState& state) : state_(state) {
  for (const Var& v : ShapeVars(state.function)) {
    base_.non_negative.insert(v.get());
    of_function_.insert(v.get());
    Know(v);
  }
  for (const Param& p : state.function.params) {
    if (!p.var) continue;
    of_function_.insert(p.var.get());
    Know(p.var);
  }
  for (const StageState& s : state.stages) {
    for (const AxisState& a : s.axes) {
      base_.non_negative.insert(a.var.get());
      Know(a.var);
    }
  }
  // The needed part of an earlier stage follows from the needed part of this stage.
  for (auto s = state.stages.rbegin(); s != state.stages.rend(); ++s) {
    regions_[&*s] = s->IsAttached() ? Needed(*s) : Whole(*s);
  }
}

Poly Regions::ExtentPoly(const Expr& extent) {
  if (const std::optional<Poly> p = base_.Of(extent)) return *p;
  for (const auto& [known, var] : atoms_) {
    if (Equal(known, extent)) return Poly(var.get());
  }
  const Var var = MakeVar("extent", kI64);
  atoms_.emplace_back(extent, var);
  base_.non_negative.insert(var.get());
  of_function_.insert(var.get());
  Name(var.get(), extent);
  return Poly(var.get());
}

Expr Regions::ToExpr(const Poly& p) const {
  struct Written {
    bool negative;
    std::vector<size_t> orders;
    Expr product;
  };
  std::vector<Written> terms;
  for (const auto& [term, coefficient] : p.terms()) {
    Written w{coefficient < 0, {}, Expr(1)};
    std::vector<const Named*> factors;
    for (const VarNode* v : term) factors.push_back(&vars_.at(v));
    std::sort(factors.begin(), factors.end(), [](const Named* a, const Named* b) { return a->order < b->order; });
    for (const Named* f : factors) {
      w.orders.push_back(f->order);
      w.product = Product(w.product, f->value);
    }
    w.product = Product(w.product, Expr(w.negative ? -coefficient : coefficient));
    terms.push_back(std::move(w));
  }
  // Added terms first, then subtracted terms; constants last.
  std::sort(terms.begin(), terms.end(), [](const Written& a, const Written& b) {
    if (a.negative != b.negative) return b.negative;
    if (a.orders.empty() != b.orders.empty()) return b.orders.empty();
    return a.orders < b.orders;
  });
  Expr sum(0);
  for (const Written& w : terms) sum = w.negative ? Difference(sum, w.product) : Sum(sum, w.product);
  return sum;
}

Poly Regions::AxisPoly(const StageState& s, size_t axis) const {
  const Relation* r = FindParts(s, axis);
  if (!r || r->kind == Relation::kFuse) return Poly(s.axes[axis].var.get());
  const std::optional<Poly> scaled = Poly::Multiply(AxisPoly(s, r->outer), Poly(r->factor));
  const std::optional<Poly> sum = scaled ? Poly::Add(*scaled, AxisPoly(s, r->inner)) : std::nullopt;
  return sum ? *sum : Poly(s.axes[axis].var.get());
}

Poly Regions::GetUpperBound(const StageState& s, size_t axis) {
  for (const Relation& r : s.relations) {
    if (r.kind == Relation::kSplit && r.inner == axis) return Poly(r.factor);
    if (r.kind == Relation::kSplit && r.outer == axis)
      return ExtentPoly(CeilDiv(ToExpr(GetUpperBound(s, r.whole)), r.factor));
    if (r.kind == Relation::kFuse && r.whole == axis) {
      const Poly outer = GetUpperBound(s, r.outer), inner = GetUpperBound(s, r.inner);
      const std::optional<Poly> product = Poly::Multiply(outer, inner);
      return product ? *product : ExtentPoly(Product(ToExpr(outer), ToExpr(inner)));
    }
  }
  const bool has_region = axis < s.stage.spatial.size() && regions_.count(&s);
  return has_region ? Of(s)[axis].size : ExtentPoly(s.axes[axis].extent);
}

Facts::Range Regions::GetRange(const StageState& s, size_t axis) {
  return {Poly(), *Poly::Add(GetUpperBound(s, axis), Poly(-1))};
}

Region Regions::Whole(const StageState& s) {
  Region out;
  for (const StageAxis& a : s.stage.spatial) out.push_back({Poly(), ExtentPoly(a.extent), true});
  return out;
}

namespace {

// Smallest and largest index of each dimension over all loads of a buffer; nothing where that is not known.
class Extremes : public Visitor {
 public:
  struct Dim {
    bool seen = false;
    std::optional<Poly> low, high;
  };

  Extremes(const BufferNode* buffer, size_t rank) : dims(rank), buffer_(buffer) {}

  std::vector<Dim> dims;

  // `first`: counters from it on take all their values.
  void Visit(const Expr& body, Facts facts, size_t first) {
    facts_ = std::move(facts);
    first_ = first;
    VisitExpr(body);
  }

  void VisitExpr(const Expr& e) override {
    if (e->op == Op::kReduce) {
      VisitExpr(e->args[0]);
      VisitExpr(e->args[1]);
      const CounterScope counting(&facts_, std::get<Reduction>(e->detail).var, e->args[0], e->args[1]);
      return VisitExpr(e->args[2]);
    }
    Visitor::VisitExpr(e);
    if ((e->op != Op::kLoad && e->op != Op::kMaskedLoad) || e->buffer().get() != buffer_) return;
    for (size_t d = 0; d < dims.size(); ++d) {
      const std::optional<Poly> index = facts_.Of(e->args[d]);
      Join(&dims[d], index ? facts_.Extreme(*index, false, first_) : std::nullopt,
           index ? facts_.Extreme(*index, true, first_) : std::nullopt);
    }
  }

 private:
  const BufferNode* buffer_;
  Facts facts_;
  size_t first_ = 0;

  void Join(Dim* dim, const std::optional<Poly>& low, const std::optional<Poly>& high) const {
    dim->low = dim->seen ? Choose(dim->low, low, false) : low;
    dim->high = dim->seen ? Choose(dim->high, high, true) : high;
    dim->seen = true;
  }

  std::optional<Poly> Choose(const std::optional<Poly>& a, const std::optional<Poly>& b, bool largest) const {
    const std::optional<Poly> difference = a && b ? Poly::Add(*a, *b, -1) : std::nullopt;
    const std::optional<Poly> flipped = difference ? Poly::Add(Poly(), *difference, -1) : std::nullopt;
    if (difference && difference->IsNonNegative(facts_.non_negative)) return largest ? a : b;
    if (flipped && flipped->IsNonNegative(facts_.non_negative)) return largest ? b : a;
    return std::nullopt;
  }
};

struct LoopAround {
  const StageState* stage;
  size_t axis;
};

// The loops around the body of a stage, outermost first.
std::vector<LoopAround> LoopsAround(const ScheduleState& state, const StageState& s) {
  std::vector<const StageState*> chain = Enclosing(state, s);
  std::vector<LoopAround> out;
  for (auto stage = chain.rbegin(); stage != chain.rend(); ++stage) {
    const bool is_last = stage + 1 == chain.rend();
    const std::string last = is_last ? "" : (*(stage + 1))->consumer_axis;
    for (const size_t a : (*stage)->leaves) {
      out.push_back({*stage, a});
      if (!is_last && (*stage)->axes[a].name == last) break;
    }
  }
  return out;
}

}  // namespace

Region Regions::Needed(const StageState& s) {
  const StageState& consumer = *state_.Named(s.consumer);
  std::vector<LoopAround> fixed = LoopsAround(state_, consumer);
  const size_t last = FindAxis("compute_at", consumer, s.consumer_axis);
  while (fixed.back().stage != &consumer || fixed.back().axis != last) fixed.pop_back();
  const size_t enclosing = fixed.size();
  // Shared memory of a block contains the parts that all threads need.
  std::vector<LoopAround> shared;
  if (s.HasThreads()) {
    const auto is_thread = [](const LoopAround& l) { return l.stage->axes[l.axis].mark.IsThread(); };
    std::copy_if(fixed.begin(), fixed.end(), std::back_inserter(shared), is_thread);
    fixed.erase(std::remove_if(fixed.begin(), fixed.end(), is_thread), fixed.end());
  }

  Extremes extremes(s.stage.buffer.get(), s.stage.spatial.size());
  std::set<const VarNode*> known;
  for (const StageState& reader : state_.stages) {
    const std::vector<Buffer> buffers = CollectBuffers(reader.stage.body);
    if (!std::count(buffers.begin(), buffers.end(), s.stage.buffer)) continue;
    const std::vector<LoopAround> around = LoopsAround(state_, reader);
    std::vector<LoopAround> varying = shared;
    varying.insert(varying.end(), around.begin() + static_cast<long>(enclosing), around.end());

    // Axes that were fused are values of their own, fixed where all their loops are.
    Facts facts = base_;
    std::vector<LoopAround> late;
    for (const StageState* stage : Enclosing(state_, reader)) {
      std::vector<size_t> leaves;
      for (const LoopAround& l : fixed) {
        if (l.stage == stage) leaves.push_back(l.axis);
      }
      for (const Relation& r : stage->relations) {
        if (r.kind != Relation::kFuse) continue;
        for (const size_t a : {r.outer, r.inner}) {
          if (IsCovered(*stage, r.whole, leaves)) {
            facts.counters.emplace_back(stage->axes[a].var.get(), GetRange(*stage, a));
          } else {
            late.push_back({stage, a});
          }
        }
      }
    }
    varying.insert(varying.end(), late.begin(), late.end());
    for (const LoopAround& l : fixed)
      facts.counters.emplace_back(l.stage->axes[l.axis].var.get(), GetRange(*l.stage, l.axis));
    for (const auto& counter : facts.counters) known.insert(counter.first);
    const size_t first = facts.counters.size();
    for (const LoopAround& l : varying)
      facts.counters.emplace_back(l.stage->axes[l.axis].var.get(), GetRange(*l.stage, l.axis));
    for (size_t a = 0; a < reader.Roots(); ++a) {
      Poly value = AxisPoly(reader, a);
      if (a < reader.stage.spatial.size()) value = *Poly::Add(value, Of(reader)[a].low);
      facts.values[reader.axes[a].var.get()] = value;
    }
    extremes.Visit(reader.stage.body, std::move(facts), first);
  }

  const auto is_fixed = [&](const Poly& p) {
    return std::all_of(p.terms().begin(), p.terms().end(), [&](const auto& t) {
      return std::all_of(t.first.begin(), t.first.end(),
                         [&](const VarNode* v) { return known.count(v) || of_function_.count(v); });
    });
  };
  const auto is_constant_in_loops = [&](const Poly& p) {
    return std::none_of(known.begin(), known.end(), [&](const VarNode* v) { return p.Uses(v); });
  };
  Region region = Whole(s);
  for (size_t d = 0; d < region.size(); ++d) {
    const auto& [seen, low, high] = extremes.dims[d];
    if (!low || !high || !is_fixed(*low) || !is_fixed(*high)) continue;
    const std::optional<Poly> width = Poly::Add(*high, *low, -1);
    const std::optional<Poly> size = width ? Poly::Add(*width, Poly(1)) : std::nullopt;
    if (!size || !is_constant_in_loops(*size)) continue;
    const std::optional<Poly> excess = Poly::Add(*size, region[d].size, -1);
    if (excess && excess->IsNonNegative(base_.non_negative)) continue;
    region[d] = {*low, *size, false};
  }
  return region;
}

}  // namespace kernpack::sdk::ir
