// Schedules: how the stages of a program are run. A schedule never changes a result: a step that would is an error, which
// names the stage, the axis and what to do instead.
#ifndef KERNPACK_SDK_SCHEDULE_SCHEDULE_H_
#define KERNPACK_SDK_SCHEDULE_SCHEDULE_H_

#include <kernpack/sdk/schedule/stage.h>

#include <utility>

namespace kernpack::sdk::ir {

struct ScheduleState;

// One primitive with its arguments, in the form of the trace: split(out, i, 8, peeled).
struct Primitive {
  std::string name;
  std::vector<std::string> args;
};

// Stages and axes are named. A stage begins with its spatial axes in order, then its reduction axes, each a serial
// loop; every stage is computed completely, in the order of the program. Errors are ValueErrors and leave the schedule
// unchanged. Use it in one thread at a time.
class Schedule {
 public:
  explicit Schedule(StageProgram program);
  ~Schedule();
  Schedule(Schedule&&) noexcept;
  Schedule& operator=(Schedule&&) noexcept;

  // axis = outer * factor + inner. The tail, where factor does not divide the extent: kPeeled runs it in loops of its
  // own (masked where the outer axis is split or fused again, or does not come first), kMasked tests each element.
  // Returns the names of the two: <axis>_o and <axis>_i.
  std::pair<std::string, std::string> Split(const std::string& stage, const std::string& axis, int64_t factor,
                                            Tail tail = Tail::kPeeled);
  // Two axes of one kind, next to each other, become one. Returns its name: <outer>_<inner>.
  std::string Fuse(const std::string& stage, const std::string& outer, const std::string& inner);
  // Puts the given axes in this order, at the positions that they occupy among the stage's axes.
  void Reorder(const std::string& stage, const std::vector<std::string>& axes);

  void Parallel(const std::string& stage, const std::string& axis, int grain = 0);
  void Vectorize(const std::string& stage, const std::string& axis, int lanes, Tail tail = Tail::kPeeled);
  void Unroll(const std::string& stage, const std::string& axis);
  // index: "block.x" ... "thread.z". In a stage that is computed at a loop of a launch, threads share the work, and the
  // stage's elements are shared memory.
  void Bind(const std::string& stage, const std::string& axis, const std::string& index);

  // Computes the stage inside the consumer's loop, in each iteration only the elements that it needs.
  void ComputeAt(const std::string& stage, const std::string& consumer, const std::string& axis);
  // Makes `reader` read a copy of a stage or an input. Returns the copy's name: <source>_cache.
  std::string CacheRead(const std::string& source, const std::string& reader);
  // Adds a stage that computes the elements; the stage becomes a copy of it. Returns the new stage's name: <stage>_local.
  std::string CacheWrite(const std::string& stage);
  // Makes `reader` read a copy whose dimension `dim` is divided into panels: [panel, other dimensions..., factor]. Elements
  // past the end of the last panel are 0. Returns the copy's name: <source>_pack.
  std::string Pack(const std::string& source, const std::string& reader, int dim, int64_t factor);

  // Applies one primitive in the form of the trace.
  void Apply(const Primitive& primitive);
  // One primitive per line.
  std::string Trace() const;
  // Applies a trace. ValueError: "line 2: ...".
  void Replay(std::string_view trace);

  // Axes of a stage from the outermost loop to the innermost.
  std::vector<std::string> Axes(const std::string& stage) const;

  // The scheduled function. Without primitives, the plain loops of the program.
  PrimFunc Lower() const;

 private:
  std::unique_ptr<ScheduleState> state_;
  std::vector<Primitive> trace_;

  std::string Do(const Primitive& primitive);
  friend PrimFunc LowerUnverified(const Schedule& schedule);
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SCHEDULE_SCHEDULE_H_
