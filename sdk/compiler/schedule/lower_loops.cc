// The loops of one stage.
#include <kernpack/error.h>

#include <algorithm>

#include "schedule/arguments.h"
#include "schedule/arithmetic.h"
#include "schedule/lower.h"

namespace kernpack::sdk::ir {
namespace {

void Append(Block* out, const Block& more) { out->insert(out->end(), more.begin(), more.end()); }

// The body, behind the condition if there is one.
void Guarded(const Expr& condition, Block body, Block* out) {
  if (condition) {
    out->push_back(If(condition, std::move(body)));
  } else {
    Append(out, body);
  }
}

Expr Both(const Expr& a, const Expr& b) { return a && b ? a & b : a ? a : b; }

// Axes that were split from the axis, or fused with it, get a new extent.
void ForgetParts(const StageState& s, size_t axis, std::vector<Expr>* extent) {
  (*extent)[axis] = Expr();
  const Relation* r = FindParts(s, axis);
  if (!r) return;
  if (r->kind == Relation::kFuse) return ForgetParts(s, r->whole, extent);
  ForgetParts(s, r->outer, extent);
  ForgetParts(s, r->inner, extent);
}

}  // namespace

template <class F>
void Lowerer::Counting(const StageState& s, size_t axis, F body) {
  facts_.counters.emplace_back(s.axes[axis].var.get(), regions_.GetRange(s, axis));
  body();
  facts_.counters.pop_back();
}

Expr Lowerer::GetValue(const Nest& nest, size_t axis) { return regions_.ToExpr(regions_.AxisPoly(*nest.stage, axis)); }

// Extents of what was split or fused follow from those of its parts. Extents given already stay.
void Lowerer::FillExtents(Nest* nest) {
  for (const Relation& r : nest->stage->relations) {
    if (r.kind == Relation::kSplit) {
      if (!nest->extent[r.outer]) nest->extent[r.outer] = CeilDiv(nest->extent[r.whole], r.factor);
      if (!nest->extent[r.inner]) nest->extent[r.inner] = Expr(r.factor);
    } else if (!nest->extent[r.whole]) {
      // Of two negative extents the product would not be empty.
      const auto count = [this](const Expr& e) { return facts_.IsNotNegative(e) ? e : Larger(e, Expr(0)); };
      nest->extent[r.whole] = Product(count(nest->extent[r.outer]), count(nest->extent[r.inner]));
    }
  }
}

// The outer axis is a loop, and the loops of the inner one are inside it.
bool Lowerer::IsPeeled(const StageState& s, const Relation& r) const {
  if (r.kind != Relation::kSplit || r.tail != Tail::kPeeled || s.HasThreads() || !s.IsLeaf(r.outer)) return false;
  const auto first = s.leaves.begin();
  return IsCovered(s, r.inner, {first + static_cast<long>(s.GetPlace(r.outer)) + 1, s.leaves.end()});
}

void Lowerer::EmitLaunch(Nest nest, Block* out) {
  const StageState& s = *nest.stage;
  std::vector<Expr> extents(6, Expr(1));
  Block body;
  size_t depth = 0;
  for (; depth < s.leaves.size() && s.axes[s.leaves[depth]].mark.index >= 0; ++depth) {
    const size_t a = s.leaves[depth];
    const int index = s.axes[a].mark.index;
    extents[static_cast<size_t>(index)] = Larger(nest.extent[a], Expr(0));
    body.push_back(Let(s.axes[a].var, Cast(kI64, index < 3 ? BlockIndex(index) : ThreadIndex(index - 3))));
    facts_.counters.emplace_back(s.axes[a].var.get(), regions_.GetRange(s, a));
    nest.open.push_back(a);
  }
  for (size_t i = depth; i < s.leaves.size(); ++i) {
    const AxisState& a = s.axes[s.leaves[i]];
    if (a.mark.index < 0) continue;
    KP_THROW(ValueError) << Place("bind", s, a.name) << "loop '" << s.axes[s.leaves[depth]].name
                         << "' runs outside it; bound axes come first, reorder them";
  }
  in_launch_ = true;
  std::copy(extents.begin() + 3, extents.end(), threads_.begin());
  EmitInside(std::move(nest), 0, depth, &body);
  in_launch_ = false;
  facts_.counters.resize(facts_.counters.size() - depth);
  out->push_back(
      Launch({extents.begin(), extents.begin() + 3}, {extents.begin() + 3, extents.end()}, Expr(), std::move(body)));
}

void Lowerer::EmitLoops(Nest nest, size_t depth, Block* out) {
  const StageState& s = *nest.stage;
  if (depth == s.leaves.size()) return EmitBody(nest, out);
  const bool reduction = s.axes[s.leaves[depth]].is_reduction;
  if (!s.HasReductionLoops(state_)) {
    if (reduction) return EmitBody(nest, out);  // as one expression
    return EmitLoop(std::move(nest), depth, out);
  }
  if (nest.is_initial && reduction) {
    nest.open.push_back(s.leaves[depth]);
    return EmitLoops(std::move(nest), depth + 1, out);
  }
  const bool outside =
      std::none_of(nest.open.begin(), nest.open.end(), [&](size_t a) { return s.axes[a].is_reduction; });
  if (reduction && outside) {
    Nest initial = nest;
    initial.is_initial = true;
    Block first;
    EmitLoops(std::move(initial), depth, &first);
    Append(out, CloneBlock(first, {}));
  }
  EmitLoop(std::move(nest), depth, out);
}

void Lowerer::EmitLoop(Nest nest, size_t depth, Block* out) {
  const StageState& s = *nest.stage;
  const size_t axis = s.leaves[depth];
  const AxisState& a = s.axes[axis];
  for (const Relation& r : s.relations) {
    if (r.outer == axis && IsPeeled(s, r)) return EmitPeeled(std::move(nest), depth, r, out);
  }
  const Expr extent = nest.extent[axis];
  nest.open.push_back(axis);
  Block body;
  if (a.mark.IsThread()) {  // of a stage that a launch computes together
    const Expr threads = threads_[static_cast<size_t>(a.mark.index - 3)];
    int64_t wanted = 0, there = 0;
    if (!IsConstInt(extent, &wanted) || !IsConstInt(threads, &there) || wanted > there) {
      KP_THROW(ValueError) << Place("bind", s, a.name) << "it needs a constant extent of at most the launch's threads; "
                           << "split it by their number and bind the inner axis";
    }
    out->push_back(Let(a.var, Cast(kI64, ThreadIndex(a.mark.index - 3))));
    if (wanted < there) nest.late = Both(nest.late, Expr(a.var) < extent);
    Counting(s, axis, [&] { EmitInside(std::move(nest), depth, depth + 1, out); });
    return;
  }
  Counting(s, axis, [&] { EmitInside(std::move(nest), depth, depth + 1, &body); });
  out->push_back(For(a.var, Expr(0), extent, std::move(body), a.mark.kind, a.mark.lanes, a.mark.tail));
}

void Lowerer::EmitPeeled(Nest nest, size_t depth, const Relation& r, Block* out) {
  const StageState& s = *nest.stage;
  const AxisState& outer = s.axes[r.outer];
  const Expr extent = nest.extent[r.whole], whole = Quotient(extent, r.factor);
  nest.open.push_back(r.outer);
  nest.tested[static_cast<size_t>(&r - s.relations.data())] = true;
  Block body;
  const size_t known = not_negative_.size();
  if (r.whole < s.stage.spatial.size()) {
    const Poly start = *Poly::Add(*Poly::Multiply(Poly(s.axes[r.outer].var.get()), Poly(r.factor)), nest.base[r.whole]);
    const Poly end = *Poly::Add(start, Poly(r.factor));
    not_negative_.push_back(*Poly::Add(regions_.ExtentPoly(extent), end, -1));
  }
  Counting(s, r.outer, [&] { EmitInside(nest, depth, depth + 1, &body); });
  not_negative_.resize(known);
  int64_t count = 1;
  if (!IsConstInt(whole, &count) || count > 0)
    out->push_back(For(outer.var, Expr(0), whole, std::move(body), outer.mark.kind, outer.mark.lanes));
  const Expr rest = Difference(extent, Product(whole, Expr(r.factor)));
  int64_t left = 0;
  if (IsConstInt(rest, &left) && left <= 0) return;
  Nest tail = std::move(nest);
  ForgetParts(s, r.inner, &tail.extent);
  tail.extent[r.inner] = rest;
  FillExtents(&tail);
  Block last{Let(outer.var, whole)};
  Counting(s, r.outer, [&] { EmitInside(std::move(tail), depth, depth + 1, &last); });
  out->push_back(If(rest > Expr(0), CloneBlock(last, {})));
}

// Gives axes that were fused their values, once their loop is open, and says in what ranges these are.
void Lowerer::BindFused(Nest* nest, Block* out) {
  const StageState& s = *nest->stage;
  for (auto r = s.relations.rbegin(); r != s.relations.rend(); ++r) {
    if (r->kind != Relation::kFuse || nest->bound[r->whole] || !IsCovered(s, r->whole, nest->open)) continue;
    if (nest->is_initial && s.axes[r->whole].is_reduction) continue;
    nest->bound[r->whole] = true;
    const Expr value = GetValue(*nest, r->whole), inner = nest->extent[r->inner];
    out->push_back(Let(s.axes[r->outer].var, value / inner));
    out->push_back(Let(s.axes[r->inner].var, value % inner));
    for (const size_t part : {r->outer, r->inner})
      facts_.counters.emplace_back(s.axes[part].var.get(), regions_.GetRange(s, part));
  }
}

// The condition for masked tails whose loops are open; null if there is none.
Expr Lowerer::Tails(Nest* nest) {
  const StageState& s = *nest->stage;
  Expr all;
  for (size_t i = 0; i < s.relations.size(); ++i) {
    const Relation& r = s.relations[i];
    if (r.kind != Relation::kSplit || nest->tested[i] || !IsCovered(s, r.whole, nest->open)) continue;
    nest->tested[i] = true;
    int64_t extent = 0;
    if ((nest->is_initial && s.axes[r.whole].is_reduction) || IsPeeled(s, r)) continue;
    if (IsConstInt(nest->extent[r.whole], &extent) && extent % r.factor == 0) continue;
    all = Both(all, GetValue(*nest, r.whole) < nest->extent[r.whole]);
  }
  return all;
}

// A split whose tail is peeled, but whose outer axis is part of a loop that has just been opened: another axis' loop was
// fused with it.
const Relation* Lowerer::FusedSplit(const Nest& nest, size_t depth) const {
  const StageState& s = *nest.stage;
  const auto inside = s.leaves.begin() + static_cast<long>(depth);
  for (size_t i = 0; i < s.relations.size(); ++i) {
    const Relation& r = s.relations[i];
    if (r.kind != Relation::kSplit || r.tail != Tail::kPeeled || nest.tested[i] || s.HasThreads()) continue;
    int64_t extent = 0;
    if (IsConstInt(nest.extent[r.whole], &extent) && extent % r.factor == 0) continue;
    if (s.axes[r.whole].is_reduction || !IsCovered(s, r.inner, {inside, s.leaves.end()})) continue;
    for (const Relation& f : s.relations) {
      if (f.kind == Relation::kFuse && nest.bound[f.whole] && (f.outer == r.outer || f.inner == r.outer)) return &r;
    }
  }
  return nullptr;
}

// Whole steps without a test of each element; with one, what is left.
void Lowerer::EmitEither(const Nest& nest, size_t first, size_t depth, const Relation& r, Block* out) {
  const Expr end = Product(Sum(Expr(nest.stage->axes[r.outer].var), Expr(1)), Expr(r.factor));
  Nest untested = nest;
  untested.tested[static_cast<size_t>(&r - nest.stage->relations.data())] = true;
  Block whole, rest;
  EmitInside(std::move(untested), first, depth, &whole);
  EmitTested(nest, first, depth, &rest);
  out->push_back(If(end <= nest.extent[r.whole], std::move(whole), CloneBlock(rest, {})));
}

void Lowerer::EmitInside(Nest nest, size_t first, size_t depth, Block* out) {
  const size_t outside = facts_.counters.size();
  BindFused(&nest, out);
  if (const Relation* r = FusedSplit(nest, depth)) {
    EmitEither(nest, first, depth, *r, out);
  } else {
    EmitTested(std::move(nest), first, depth, out);
  }
  facts_.counters.resize(outside);
}

// Of a step that is not whole and is split again, the parts that begin before the end.
Expr Lowerer::PartsThatAreThere(const Nest& nest, size_t first, size_t depth) {
  const StageState& s = *nest.stage;
  Expr all;
  for (size_t i = 0; i < s.relations.size(); ++i) {
    const Relation& r = s.relations[i];
    int64_t extent = 0;
    if (r.kind != Relation::kSplit || nest.tested[i] || s.axes[r.whole].is_reduction) continue;
    if (IsConstInt(nest.extent[r.whole], &extent) && extent % r.factor == 0) continue;
    for (const Relation& part : s.relations) {
      const auto opened = s.leaves.begin() + static_cast<long>(first),
                 closed = s.leaves.begin() + static_cast<long>(depth);
      if (part.kind != Relation::kSplit || part.whole != r.inner || !IsCovered(s, r.outer, nest.open)) continue;
      if (std::find(opened, closed, part.outer) == closed) continue;
      const Expr start = Product(GetValue(nest, r.outer), Expr(r.factor));
      const Expr begin = Sum(start, Product(GetValue(nest, part.outer), Expr(part.factor)));
      all = Both(all, begin < nest.extent[r.whole]);
    }
  }
  return all;
}

void Lowerer::EmitTested(Nest nest, size_t first, size_t depth, Block* out) {
  const StageState& s = *nest.stage;
  Expr condition = in_launch_ ? Expr() : PartsThatAreThere(nest, first, depth);
  condition = Both(condition, Tails(&nest));
  if (in_launch_) {  // barriers of what is computed inside are for all threads
    nest.late = Both(nest.late, condition);
    condition = Expr();
  }
  Block body;
  bool in_loop = false;
  for (size_t i = 0; i < depth; ++i) {
    const size_t a = s.leaves[i];
    in_loop = in_loop || s.axes[a].mark.index < 0;
    if (i < first || nest.is_initial) continue;
    for (const StageState& other : state_.stages) {
      if (other.consumer == s.name() && other.consumer_axis == s.axes[a].name) EmitAttached(other, in_loop, &body);
    }
  }
  EmitLoops(std::move(nest), depth, &body);
  Guarded(condition, std::move(body), out);
}

}  // namespace kernpack::sdk::ir
