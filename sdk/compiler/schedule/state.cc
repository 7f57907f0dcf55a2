#include "schedule/state.h"

#include <kernpack/error.h>
#include <kernpack/sdk/ir/visitor.h>

#include <algorithm>

namespace kernpack::sdk::ir {
namespace {

class LoadedBuffers : public Visitor {
 public:
  std::vector<Buffer> buffers;
  void VisitExpr(const Expr& e) override {
    if ((e->op == Op::kLoad || e->op == Op::kMaskedLoad) && !std::count(buffers.begin(), buffers.end(), e->buffer()))
      buffers.push_back(e->buffer());
    Visitor::VisitExpr(e);
  }
};

bool HasAxis(const StageState& s, const std::string& name) {
  return std::any_of(s.axes.begin(), s.axes.end(), [&](const AxisState& a) { return a.name == name; });
}

}  // namespace

bool StageState::IsLeaf(size_t axis) const { return std::count(leaves.begin(), leaves.end(), axis) != 0; }

size_t StageState::GetPlace(size_t axis) const {
  return static_cast<size_t>(std::find(leaves.begin(), leaves.end(), axis) - leaves.begin());
}

bool StageState::HasThreads() const {
  return std::any_of(leaves.begin(), leaves.end(), [&](size_t a) { return axes[a].mark.index >= 0; });
}

bool StageState::HasReductionLoops(const ScheduleState& state) const {
  if (!stage.combine) return false;
  const size_t first = leaves.size() - std::min(leaves.size(), stage.reduced.size());
  for (size_t r = 0; r < stage.reduced.size(); ++r) {
    const size_t axis = stage.spatial.size() + r;
    if (first + r >= leaves.size() || leaves[first + r] != axis || !axes[axis].mark.IsSerial()) return true;
  }
  return std::any_of(state.stages.begin(), state.stages.end(), [&](const StageState& other) {
    return other.consumer == name() && axes[FindAxis("compute_at", *this, other.consumer_axis)].is_reduction;
  });
}

StageState& ScheduleState::FindStage(const std::string& primitive, const std::string& stage) {
  std::string names;
  for (StageState& s : stages) {
    if (s.name() == stage) return s;
    names += (names.empty() ? "" : ", ") + s.name();
  }
  KP_THROW(ValueError) << primitive << ": there is no stage '" << stage << "'; stages are " << names;
}

const StageState* ScheduleState::Named(const std::string& stage) const {
  const auto found = std::find_if(stages.begin(), stages.end(), [&](const StageState& s) { return s.name() == stage; });
  return found == stages.end() ? nullptr : &*found;
}

size_t FindAxis(const std::string& primitive, const StageState& s, const std::string& axis) {
  std::string names;
  for (const size_t leaf : s.leaves) {
    if (s.axes[leaf].name == axis) return leaf;
    names += (names.empty() ? "" : ", ") + s.axes[leaf].name;
  }
  KP_THROW(ValueError) << primitive << ": stage '" << s.name() << "' has no axis '" << axis << '\''
                       << (HasAxis(s, axis) ? " any more: it was split or fused" : "") << "; its axes are " << names;
}

std::string Place(const std::string& primitive, const StageState& s, const std::string& axis) {
  return primitive + ": stage '" + s.name() + "', axis '" + axis + "': ";
}

size_t AddAxis(StageState* s, std::string name, bool is_reduction) {
  std::string unique = name;
  for (int n = 1; HasAxis(*s, unique); ++n) unique = name + std::to_string(n);
  s->axes.push_back({unique, MakeVar(unique, kI64), is_reduction, Expr(), {}});
  return s->axes.size() - 1;
}

StageState MakeStageState(Stage stage) {
  StageState s;
  for (const auto* axes : {&stage.spatial, &stage.reduced}) {
    for (const StageAxis& a : *axes) {
      s.leaves.push_back(s.axes.size());
      s.axes.push_back({a.var->name, a.var, axes == &stage.reduced, a.extent, {}});
    }
  }
  s.stage = std::move(stage);
  return s;
}

std::vector<Buffer> CollectBuffers(const Expr& body) {
  LoadedBuffers loads;
  loads.VisitExpr(body);
  return std::move(loads.buffers);
}

std::vector<const StageState*> Enclosing(const ScheduleState& state, const StageState& s) {
  std::vector<const StageState*> out{&s};
  while (out.back()->IsAttached()) out.push_back(state.Named(out.back()->consumer));
  return out;
}

}  // namespace kernpack::sdk::ir
