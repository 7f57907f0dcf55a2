// The decisions of a schedule so far.
#ifndef KERNPACK_SDK_COMPILER_SCHEDULE_STATE_H_
#define KERNPACK_SDK_COMPILER_SCHEDULE_STATE_H_

#include <kernpack/sdk/schedule/schedule.h>

namespace kernpack::sdk::ir {

// How the loop of an axis runs.
struct Mark {
  ForKind kind = ForKind::kSerial;
  int lanes = 0;  // of a vectorized loop; the grain of a parallel one
  Tail tail = Tail::kPeeled;
  int index = -1;  // bound to block.x ... block.z (0 to 2), thread.x ... thread.z (3 to 5)

  bool IsSerial() const { return kind == ForKind::kSerial && index < 0; }
  bool IsThread() const { return index >= 3; }
};

struct AxisState {
  std::string name;
  Var var;  // the loop's variable; of an axis that was split or fused, its value
  bool is_reduction;
  Expr extent;  // of an axis that the stage began with; else null
  Mark mark;
};

// Axes are numbers in StageState::axes.
struct Relation {
  enum Kind { kSplit, kFuse } kind;
  size_t outer, inner;
  size_t whole;  // what was split, or came of fusing
  int64_t factor = 0;
  Tail tail = Tail::kPeeled;
};

struct StageState {
  Stage stage;
  std::vector<AxisState> axes;  // those it began with first: spatial, then reduction
  std::vector<Relation> relations;  // in the order of their making
  std::vector<size_t> leaves;  // the loops, outermost first
  std::string consumer, consumer_axis;  // computed at; empty: whole

  const std::string& name() const { return stage.name; }
  bool IsAttached() const { return !consumer.empty(); }
  size_t Roots() const { return stage.spatial.size() + stage.reduced.size(); }
  bool IsLeaf(size_t axis) const;
  size_t GetPlace(size_t axis) const;  // among the leaves
  // Order decides the result: floats that are joined.
  bool OrderMatters() const { return stage.combine && !IsInteger(stage.body->type) && !IsBool(stage.body->type); }
  // The reduction is written as loops that update the element, not as a `reduce` expression.
  bool HasReductionLoops(const ScheduleState& state) const;
  bool HasThreads() const;
};

struct ScheduleState {
  FuncNode function;
  std::vector<StageState> stages;

  // ValueError naming what there is when there is none of the name; `primitive` begins the message.
  StageState& FindStage(const std::string& primitive, const std::string& stage);
  const StageState* Named(const std::string& stage) const;
};

size_t FindAxis(const std::string& primitive, const StageState& s, const std::string& axis);
// "split: stage 'out', axis 'i': "
std::string Place(const std::string& primitive, const StageState& s, const std::string& axis);
// Adds an axis under the name, or that name with a number behind it.
size_t AddAxis(StageState* s, std::string name, bool is_reduction);
StageState MakeStageState(Stage stage);
// The buffers that a stage loads from.
std::vector<Buffer> CollectBuffers(const Expr& body);
// Stages whose loops enclose those of s, from s outward, s first.
std::vector<const StageState*> Enclosing(const ScheduleState& state, const StageState& s);

// The primitives: each checks all before it changes anything, and gives the name that it makes, if any.
using Args = std::vector<std::string>;
std::string SplitAxis(ScheduleState* state, const Args& args);
std::string FuseAxes(ScheduleState* state, const Args& args);
std::string ReorderAxes(ScheduleState* state, const Args& args);
std::string MarkParallel(ScheduleState* state, const Args& args);
std::string MarkVectorized(ScheduleState* state, const Args& args);
std::string MarkUnrolled(ScheduleState* state, const Args& args);
std::string BindAxis(ScheduleState* state, const Args& args);
std::string ComputeStageAt(ScheduleState* state, const Args& args);
std::string CacheReads(ScheduleState* state, const Args& args);
std::string CacheWrites(ScheduleState* state, const Args& args);
std::string PackReads(ScheduleState* state, const Args& args);

// Checks a stage that is computed at a loop, after each primitive.
void CheckAttachment(const ScheduleState& state, const StageState& s);
PrimFunc LowerSchedule(const ScheduleState& state);
// For stages that are a part of a function, and read what the rest of it defines.
PrimFunc LowerUnverified(const Schedule& schedule);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_SCHEDULE_STATE_H_
