#include "codegen/c_family/range.h"

#include <algorithm>

namespace kernpack::sdk::ir {
namespace {

bool Contains(const Range& outer, const Range& inner) { return outer.low <= inner.low && inner.high <= outer.high; }

}  // namespace

Ranges::Ranges(const FuncNode& f) {
  for (const Var& v : ShapeVars(f)) known_[v.get()] = {0, kLargestExtent};
}

void Ranges::Bind(const StmtNode& let) {
  if (IsInteger(let.var->type) && let.var->type.lanes == 1) known_[let.var.get()] = Of(let.args[0]);
}

void Ranges::Count(const StmtNode& loop) {
  const Range first = Of(loop.args[0]), last = Of(loop.args[1]);
  known_[loop.var.get()] = {first.low, std::max(first.low, last.high - 1)};
}

Range Ranges::OfType(Type t) {
  const Int128 one = 1;
  if (IsSigned(t)) return {-(one << (t.bits - 1)), (one << (t.bits - 1)) - 1};
  return {0, (one << t.bits) - 1};
}

bool Ranges::Exact(const Expr& e, Range* out) const {
  if (e->args.size() != 2) return false;
  const Range a = Of(e->args[0]), b = Of(e->args[1]);
  switch (e->op) {
    case Op::kAdd:
      *out = {a.low + b.low, a.high + b.high};
      return true;
    case Op::kSub:
      *out = {a.low - b.high, a.high - b.low};
      return true;
    case Op::kMul: {
      // Two factors of 64 bits have a product of 128 at most; unsigned ones could need one bit more.
      if (e->type.bits == 64 && IsUnsigned(e->type)) return false;
      const Int128 p[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
      *out = {*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
      return true;
    }
    case Op::kDiv:
    case Op::kFloorDiv:
      if (b.low < 1 || (a.low < 0 && e->op == Op::kFloorDiv)) return false;
      *out = {std::min(a.low / b.low, a.low / b.high), std::max(a.high / b.low, a.high / b.high)};
      return true;
    case Op::kRem:
    case Op::kFloorMod:
      if (b.low < 1 || a.low < 0) return false;
      *out = {0, std::min(a.high, b.high - 1)};
      return true;
    case Op::kMin:
      *out = {std::min(a.low, b.low), std::min(a.high, b.high)};
      return true;
    case Op::kMax:
      *out = {std::max(a.low, b.low), std::max(a.high, b.high)};
      return true;
    default:
      return false;
  }
}

Range Ranges::Of(const Expr& e) const {
  const Range all = OfType(e->type);
  if (!IsInteger(e->type) || e->type.lanes != 1) return all;
  if (e->op == Op::kConst) {
    const Int128 v = IsSigned(e->type) ? Int128{static_cast<int64_t>(e->bits())} : Int128{e->bits()};
    return {v, v};
  }
  if (e->op == Op::kVar) {
    const auto found = known_.find(e->var().get());
    return found == known_.end() ? all : found->second;
  }
  if (e->op == Op::kStrict) return Of(e->args[0]);
  if (e->op == Op::kCast && IsInteger(e->args[0]->type)) {
    const Range from = Of(e->args[0]);
    return Contains(all, from) ? from : all;
  }
  Range exact;
  return Exact(e, &exact) && Contains(all, exact) ? exact : all;
}

bool Ranges::IsPlain(const Expr& e) const {
  if (!IsInteger(e->type) || e->type.lanes != 1 || e->type.bits < 32) return false;
  const bool divides = e->op == Op::kDiv || e->op == Op::kRem || e->op == Op::kFloorDiv || e->op == Op::kFloorMod;
  if (divides) {
    const bool floors = e->op == Op::kFloorDiv || e->op == Op::kFloorMod;
    return Of(e->args[1]).low >= 1 && (!floors || Of(e->args[0]).low >= 0);
  }
  if (e->op != Op::kAdd && e->op != Op::kSub && e->op != Op::kMul) return false;
  Range exact;
  return Exact(e, &exact) && Contains(OfType(e->type), exact);
}

}  // namespace kernpack::sdk::ir
