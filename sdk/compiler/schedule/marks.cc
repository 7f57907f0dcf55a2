// Primitives that say how a loop runs: parallel, vectorize, unroll, bind.
#include <kernpack/error.h>

#include <algorithm>

#include "schedule/arguments.h"

namespace kernpack::sdk::ir {
namespace {

struct Loop {
  StageState* stage;
  size_t axis;
  std::string place;
  AxisState& state() const { return stage->axes[axis]; }
};

Loop FindLoop(ScheduleState* state, const std::string& primitive, const Args& args) {
  StageState& s = state->FindStage(primitive, args[0]);
  Loop loop{&s, FindAxis(primitive, s, args[1]), Place(primitive, s, args[1])};
  const Mark& mark = loop.state().mark;
  if (!mark.IsSerial()) KP_THROW(ValueError) << loop.place << "its loop is " << MarkName(mark) << " already";
  return loop;
}

[[noreturn]] void RefuseReduction(const Loop& loop, const char* why) {
  KP_THROW(ValueError) << loop.place << "it is a reduction axis, " << why;
}

// The constant number of iterations, or nothing.
std::optional<int64_t> ConstantExtent(const StageState& s, size_t axis) {
  for (const Relation& r : s.relations) {
    if (r.kind == Relation::kSplit && r.inner == axis) return r.factor;
    const bool split = r.kind == Relation::kSplit && r.outer == axis;
    const bool fused = r.kind == Relation::kFuse && r.whole == axis;
    if (split) {
      const std::optional<int64_t> whole = ConstantExtent(s, r.whole);
      return whole ? std::optional((*whole + r.factor - 1) / r.factor) : std::nullopt;
    }
    if (fused) {
      const std::optional<int64_t> outer = ConstantExtent(s, r.outer), inner = ConstantExtent(s, r.inner);
      return outer && inner ? std::optional(*outer * *inner) : std::nullopt;
    }
  }
  int64_t value = 0;
  return s.axes[axis].extent && IsConstInt(s.axes[axis].extent, &value) ? std::optional(value) : std::nullopt;
}

}  // namespace

std::string MarkParallel(ScheduleState* state, const Args& args) {
  CheckCount("parallel", args, 2, 3, "stage, axis, grain");
  const Loop loop = FindLoop(state, "parallel", args);
  const int64_t grain = args.size() > 2 ? ParseInteger(loop.place + "grain", args[2]) : 0;
  if (grain < 0 || grain > (1 << 30))
    KP_THROW(ValueError) << loop.place << "expected a grain of 0 or more, got " << grain;
  if (loop.state().is_reduction) {
    RefuseReduction(loop, "whose iterations all change the same element; make a spatial axis parallel");
  }
  if (loop.stage->HasThreads())
    KP_THROW(ValueError) << loop.place << "the stage is bound to a launch; bind the axis instead";
  for (const StageState* s : Enclosing(*state, *loop.stage)) {
    for (const size_t a : s->leaves) {
      if (s->axes[a].mark.kind == ForKind::kParallel) {
        KP_THROW(ValueError) << loop.place << "axis '" << s->axes[a].name << "' of stage '" << s->name()
                             << "' is parallel already; fuse the two, or leave one serial";
      }
    }
  }
  loop.state().mark = {ForKind::kParallel, static_cast<int>(grain), Tail::kPeeled, -1};
  return "";
}

std::string MarkVectorized(ScheduleState* state, const Args& args) {
  CheckCount("vectorize", args, 3, 4, "stage, axis, lanes, peeled or masked");
  const Loop loop = FindLoop(state, "vectorize", args);
  const StageState& s = *loop.stage;
  const int64_t lanes = ParseInteger(loop.place + "lanes", args[2]);
  const Tail tail = ParseTail(loop.place, args, 3);
  if (lanes < 2 || lanes > kMaxLanes || (lanes & (lanes - 1)))
    KP_THROW(ValueError) << loop.place << "expected 2, 4, ... or " << kMaxLanes << " lanes, got " << lanes;
  if (loop.state().is_reduction) {
    const int declared = s.stage.combine->lanes;
    // A `reduce` of this order keeps its partial results in a vector already.
    if (declared == lanes && !s.HasReductionLoops(*state)) return "";
    if (declared == 0) RefuseReduction(loop, "and the order sequential forbids partial results; declare the order any");
    KP_THROW(ValueError) << loop.place << "the order any " << declared << " has " << declared
                         << " partial results; vectorize by " << declared;
  }
  if (s.leaves.back() != loop.axis) {
    const AxisState& inside = s.axes[s.leaves.back()];
    KP_THROW(ValueError) << loop.place << (inside.is_reduction ? "reduction axis '" : "axis '") << inside.name
                         << "' runs inside it, and only the innermost loop is vectorized; reorder first";
  }
  for (const StageState& other : state->stages) {
    if (other.consumer == s.name() && other.consumer_axis == args[1])
      KP_THROW(ValueError) << loop.place << "stage '" << other.name() << "' is computed at it";
  }
  loop.state().mark = {ForKind::kVectorized, static_cast<int>(lanes), tail, -1};
  return "";
}

std::string MarkUnrolled(ScheduleState* state, const Args& args) {
  CheckCount("unroll", args, 2, 2, "stage, axis");
  const Loop loop = FindLoop(state, "unroll", args);
  const StageState& s = *loop.stage;
  const std::optional<int64_t> extent = ConstantExtent(s, loop.axis);
  // The extents of what is computed at a loop are known when it is lowered.
  if (!extent && !s.IsAttached())
    KP_THROW(ValueError) << loop.place << "its extent is not constant; split it and unroll the inner axis";
  if (extent.value_or(0) > kMaxUnrolled) {
    KP_THROW(ValueError) << loop.place << "it has " << *extent << " iterations, more than " << kMaxUnrolled
                         << "; split it and unroll the inner axis";
  }
  if (loop.state().is_reduction && s.OrderMatters() && s.stage.combine->lanes) {
    RefuseReduction(loop, "and order any keeps its loop whole; declare the order sequential to unroll it");
  }
  loop.state().mark.kind = ForKind::kUnrolled;
  return "";
}

std::string BindAxis(ScheduleState* state, const Args& args) {
  CheckCount("bind", args, 3, 3, "stage, axis, block.x ... thread.z");
  const Loop loop = FindLoop(state, "bind", args);
  StageState& s = *loop.stage;
  const int index = ParseLaunchIndex(loop.place, args[2]);
  if (loop.state().is_reduction)
    RefuseReduction(loop, "whose iterations all change the same element; bind spatial axes");
  for (const size_t a : s.leaves) {
    if (s.axes[a].mark.index == index)
      KP_THROW(ValueError) << loop.place << "axis '" << s.axes[a].name << "' is bound to " << args[2] << " already";
    if (s.axes[a].mark.kind == ForKind::kParallel)
      KP_THROW(ValueError) << loop.place << "axis '" << s.axes[a].name << "' is parallel; a stage is one or the other";
  }
  if (s.IsAttached() && index < 3)
    KP_THROW(ValueError) << loop.place << "the stage is computed inside a launch; only threads can share its work";
  if (index >= 3 && !s.IsAttached() && !ConstantExtent(s, loop.axis))
    KP_THROW(ValueError) << loop.place << "threads of a block need a constant extent; split it and bind the inner axis";
  loop.state().mark.index = index;
  return "";
}

}  // namespace kernpack::sdk::ir
