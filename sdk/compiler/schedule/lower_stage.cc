// Stages: where their elements are kept, and which of them are computed.
#include <kernpack/error.h>

#include <algorithm>

#include "schedule/arithmetic.h"
#include "schedule/lower.h"

namespace kernpack::sdk::ir {
namespace {

// A stage inside a loop is kept on the stack up to this size.
constexpr int64_t kMaxLocalBytes = 16 << 10;

std::optional<int64_t> ConstantBytes(Type element, const std::vector<Expr>& shape) {
  int64_t bytes = element.bits / 8;
  for (const Expr& e : shape) {
    int64_t extent = 0;
    if (!IsConstInt(e, &extent) || __builtin_mul_overflow(bytes, extent, &bytes)) return std::nullopt;
  }
  return bytes;
}

// Checks that every element that a body loads exists, for all values of the counters.
class InBounds : public Visitor {
 public:
  // `sized`: buffers whose extents follow from the very indices that they are read at, in dimensions that are not whole.
  using Sized = std::unordered_map<const BufferNode*, const Region*>;
  InBounds(const Facts& facts, Regions* regions, Sized sized)
      : facts_(facts), regions_(regions), sized_(std::move(sized)) {}

  bool all = true;

  void VisitExpr(const Expr& e) override {
    if (e->op == Op::kReduce) all = false;
    Visitor::VisitExpr(e);
    if (e->op != Op::kLoad && e->op != Op::kMaskedLoad) return;
    const auto sized = sized_.find(e->buffer().get());
    for (size_t d = 0; d < e->buffer()->shape.size(); ++d) {
      if (sized != sized_.end() && !(*sized->second)[d].is_whole) continue;
      const std::optional<Poly> index = facts_.Of(e->args[d]);
      const std::optional<Poly> low = index ? facts_.Extreme(*index, false) : std::nullopt;
      const std::optional<Poly> high = index ? facts_.Extreme(*index, true) : std::nullopt;
      const std::optional<Poly> room =
          high ? Poly::Add(regions_->ExtentPoly(e->buffer()->shape[d]), *high, -1) : std::nullopt;
      const std::optional<Poly> spare = room ? Poly::Add(*room, Poly(-1)) : std::nullopt;
      all = all && low && low->IsNonNegative(facts_.non_negative) && spare && spare->IsNonNegative(facts_.non_negative);
    }
  }

 private:
  const Facts& facts_;
  Regions* regions_;
  const Sized sized_;
};

}  // namespace

Buffer Lowerer::MakeKept(const StageState& s, Scope scope) {
  std::vector<Expr> shape;
  Kept kept;
  for (const Interval& span : regions_.Of(s)) {
    const Expr size = regions_.ToExpr(span.size);
    shape.push_back(span.size.IsNonNegative(facts_.non_negative) ? size : Larger(size, Expr(0)));
    kept.low.push_back(span.low);
  }
  const Type element = s.stage.buffer->element;
  const std::optional<int64_t> bytes = ConstantBytes(element, shape);
  if (in_launch_ && !bytes) {
    KP_THROW(ValueError) << "compute_at: stage '" << s.name() << "': inside a launch its size must be constant; "
                         << "compute it at an inner axis of a split";
  }
  if (scope == Scope::kLocal && !in_launch_ && (!bytes || *bytes > kMaxLocalBytes)) scope = Scope::kWorkspace;
  kept.buffer = MakeBuffer(s.name(), element, std::move(shape), scope);
  return (kept_[s.stage.buffer.get()] = kept).buffer;
}

// Elements past those of the stage may be computed, too, where that reads nothing that is not there.
bool Lowerer::MayOverrun(const StageState& s) {
  for (const Relation& r : s.relations) {
    if (r.kind == Relation::kFuse) return false;
  }
  InBounds::Sized sized;
  for (const StageState& other : state_.stages) {
    if (!other.IsAttached()) continue;
    // One that is computed inside this stage has no place yet.
    const auto kept = kept_.find(other.stage.buffer.get());
    sized[kept == kept_.end() ? other.stage.buffer.get() : kept->second.buffer.get()] = &regions_.Of(other);
  }
  std::vector<Poly> base;
  for (const Interval& span : regions_.Of(s)) base.push_back(span.low);
  const size_t outside = facts_.counters.size();
  for (const size_t a : s.leaves) facts_.counters.emplace_back(s.axes[a].var.get(), regions_.GetRange(s, a));
  InBounds check(facts_, &regions_, std::move(sized));
  check.VisitExpr(WriteBody(s, base, {}));
  facts_.counters.resize(outside);
  return check.all;
}

// True if low + size is provably at most the extent.
bool Lowerer::Fits(const Poly& low, const Poly& size, const Expr& extent) {
  const std::optional<Poly> end = Poly::Add(low, size);
  const std::optional<Poly> room = end ? Poly::Add(regions_.ExtentPoly(extent), *end, -1) : std::nullopt;
  if (!room) return false;
  return room->IsNonNegative(facts_.non_negative) ||
         std::any_of(not_negative_.begin(), not_negative_.end(), [&](const Poly& known) {
           const std::optional<Poly> more = Poly::Add(*room, known, -1);
           return more && more->IsNonNegative(facts_.non_negative);
         });
}

// The range of each spatial axis, cut to the elements that there are: by its bounds, or, where threads share it and its
// extent must stay constant, by a test of each element.
std::vector<Poly> Lowerer::Clip(const StageState& s, std::vector<Expr>* extents, Expr* test, Block* out) {
  const Region& region = regions_.Of(s);
  const bool overrun = MayOverrun(s);
  std::vector<Poly> base;
  for (size_t d = 0; d < region.size(); ++d) {
    const Interval& span = region[d];
    const Expr size = regions_.ToExpr(span.size), extent = s.stage.spatial[d].extent;
    base.push_back(span.low);
    extents->push_back(size);
    if (span.is_whole || overrun) continue;
    const std::optional<Poly> least = facts_.Extreme(span.low, false), most = facts_.Extreme(span.low, true);
    const bool starts_inside = least && least->IsNonNegative(facts_.non_negative);
    const bool ends_inside = Fits(span.low, span.size, extent) || (most && Fits(*most, span.size, extent));
    if (starts_inside && ends_inside) continue;
    if (s.HasThreads()) {
      const Expr value = regions_.ToExpr(*Poly::Add(regions_.AxisPoly(s, d), span.low));
      if (!starts_inside) *test = *test ? *test & (value >= Expr(0)) : value >= Expr(0);
      if (!ends_inside) *test = *test ? *test & (value < extent) : value < extent;
      continue;
    }
    const Expr low = regions_.ToExpr(span.low);
    const Expr end_expr = ends_inside ? Sum(low, size) : Smaller(Sum(low, size), extent);
    if (starts_inside) {
      extents->back() = Difference(end_expr, low);
      continue;
    }
    const Var first = MakeVar("first", kI64);
    out->push_back(Let(first, Larger(low, Expr(0))));
    regions_.Know(first);
    facts_.non_negative.insert(first.get());
    base.back() = Poly(first.get());
    extents->back() = Difference(end_expr, Expr(first));
  }
  return base;
}

Nest Lowerer::Start(const StageState& s, const std::vector<Expr>& extents, std::vector<Poly> base) {
  Nest nest;
  nest.stage = &s;
  nest.extent.resize(s.axes.size());
  for (size_t a = 0; a < s.Roots(); ++a) nest.extent[a] = a < extents.size() ? extents[a] : s.axes[a].extent;
  nest.bound.resize(s.axes.size());
  nest.tested.resize(s.relations.size());
  nest.base = std::move(base);
  FillExtents(&nest);
  return nest;
}

void Lowerer::EmitStage(const StageState& s, Block* out) {
  if (!s.stage.is_result) out->push_back(Alloc(MakeKept(s, Scope::kWorkspace)));
  std::vector<Expr> extents;
  for (const StageAxis& a : s.stage.spatial) extents.push_back(a.extent);
  Nest nest = Start(s, extents, std::vector<Poly>(extents.size()));
  if (s.HasThreads()) return EmitLaunch(std::move(nest), out);
  EmitLoops(std::move(nest), 0, out);
}

// `repeats`: what was kept the last time may still be read by other threads.
void Lowerer::EmitAttached(const StageState& s, bool repeats, Block* out) {
  const bool shared = s.HasThreads();
  if (shared && !in_launch_)
    KP_THROW(ValueError) << "bind: stage '" << s.name() << "' is bound to threads, but is not computed in a launch";
  if (shared && repeats) out->push_back(Barrier());
  out->push_back(Alloc(MakeKept(s, shared ? Scope::kShared : Scope::kLocal)));
  std::vector<Expr> extents;
  Expr test;
  const std::vector<Poly> base = Clip(s, &extents, &test, out);
  Nest nest = Start(s, extents, base);
  nest.late = test;
  EmitLoops(std::move(nest), 0, out);
  if (shared) out->push_back(Barrier());
}

PrimFunc Lowerer::Run() {
  FuncNode f = state_.function;
  for (const StageState& s : state_.stages) {
    if (!s.stage.is_result) continue;
    Param p;
    p.role = Role::kResult;
    p.buffer = MakeBuffer(s.name(), s.stage.buffer->element, s.stage.buffer->shape);
    f.params.push_back(p);
    kept_[s.stage.buffer.get()] = {p.buffer, std::vector<Poly>(p.buffer->shape.size())};
  }
  for (const StageState& s : state_.stages) {
    if (!s.IsAttached()) EmitStage(s, &f.body);
  }
  return std::make_shared<const FuncNode>(std::move(f));
}

PrimFunc LowerSchedule(const ScheduleState& state) { return Lowerer(state).Run(); }

}  // namespace kernpack::sdk::ir
