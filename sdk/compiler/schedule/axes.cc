// Primitives that change which loops a stage has: split, fuse, reorder.
#include <kernpack/error.h>

#include <algorithm>

#include "schedule/arguments.h"

namespace kernpack::sdk::ir {
namespace {

void CheckSerial(const std::string& place, const AxisState& a) {
  if (!a.mark.IsSerial())
    KP_THROW(ValueError) << place << "its loop is " << MarkName(a.mark) << " already; do this before";
}

// A primitive that runs a reduction as loops needs an order that loops can keep.
void CheckLoopsMayJoin(const std::string& place, const StageState& s) {
  if (!s.OrderMatters() || s.stage.combine->lanes == 0) return;
  KP_THROW(ValueError) << place << "order any " << s.stage.combine->lanes
                       << " says which partial result each element goes to, so the reduction stays whole and innermost;"
                       << " declare the order sequential to have loops of it";
}

void CheckNothingComputedAt(const ScheduleState& state, const std::string& place, const StageState& s,
                            const std::string& axis) {
  for (const StageState& other : state.stages) {
    if (other.consumer == s.name() && other.consumer_axis == axis)
      KP_THROW(ValueError) << place << "stage '" << other.name() << "' is computed at it; do this before compute_at";
  }
}

}  // namespace

std::string SplitAxis(ScheduleState* state, const Args& args) {
  CheckCount("split", args, 3, 4, "stage, axis, factor, peeled or masked");
  StageState& s = state->FindStage("split", args[0]);
  const size_t axis = FindAxis("split", s, args[1]);
  const std::string place = Place("split", s, args[1]);
  const int64_t factor = ParseInteger(place + "factor", args[2]);
  const Tail tail = ParseTail(place, args, 3);
  if (factor < 1 || factor > (1 << 30)) KP_THROW(ValueError) << place << "expected a factor from 1, got " << factor;
  CheckSerial(place, s.axes[axis]);
  CheckNothingComputedAt(*state, place, s, args[1]);
  const bool reduction = s.axes[axis].is_reduction;
  if (reduction) CheckLoopsMayJoin(place, s);
  Relation r{Relation::kSplit, 0, 0, axis, factor, tail};
  r.outer = AddAxis(&s, args[1] + "_o", reduction);
  r.inner = AddAxis(&s, args[1] + "_i", reduction);
  s.relations.push_back(r);
  const auto at = s.leaves.begin() + static_cast<long>(s.GetPlace(axis));
  *at = r.outer;
  s.leaves.insert(at + 1, r.inner);
  return s.axes[r.outer].name;
}

std::string FuseAxes(ScheduleState* state, const Args& args) {
  CheckCount("fuse", args, 3, 3, "stage, outer axis, inner axis");
  StageState& s = state->FindStage("fuse", args[0]);
  const size_t outer = FindAxis("fuse", s, args[1]), inner = FindAxis("fuse", s, args[2]);
  const std::string place = Place("fuse", s, args[1]);
  if (s.GetPlace(outer) + 1 != s.GetPlace(inner)) {
    KP_THROW(ValueError) << place << "'" << args[2] << "' is not the next loop inside it; reorder first";
  }
  if (s.axes[outer].is_reduction != s.axes[inner].is_reduction) {
    KP_THROW(ValueError) << place << "one of '" << args[1] << "' and '" << args[2]
                         << "' is a spatial axis, the other a reduction axis; only axes of one kind are fused";
  }
  const bool reduction = s.axes[outer].is_reduction;
  for (const size_t a : {outer, inner}) {
    CheckSerial(Place("fuse", s, s.axes[a].name), s.axes[a]);
    CheckNothingComputedAt(*state, Place("fuse", s, s.axes[a].name), s, s.axes[a].name);
  }
  if (reduction) CheckLoopsMayJoin(place, s);
  const size_t fused = AddAxis(&s, args[1] + "_" + args[2], reduction);
  s.relations.push_back({Relation::kFuse, outer, inner, fused});
  const auto at = s.leaves.begin() + static_cast<long>(s.GetPlace(outer));
  *at = fused;
  s.leaves.erase(at + 1);
  return s.axes[fused].name;
}

std::string ReorderAxes(ScheduleState* state, const Args& args) {
  CheckCount("reorder", args, 3, 64, "stage, axis, axis, ...");
  StageState& s = state->FindStage("reorder", args[0]);
  std::vector<size_t> wanted, places;
  for (size_t i = 1; i < args.size(); ++i) {
    wanted.push_back(FindAxis("reorder", s, args[i]));
    places.push_back(s.GetPlace(wanted.back()));
    if (std::count(wanted.begin(), wanted.end(), wanted.back()) > 1)
      KP_THROW(ValueError) << Place("reorder", s, args[i]) << "it is named twice";
  }
  std::sort(places.begin(), places.end());
  std::vector<size_t> leaves = s.leaves;
  for (size_t i = 0; i < wanted.size(); ++i) leaves[places[i]] = wanted[i];

  for (size_t i = 0; i + 1 < leaves.size(); ++i) {
    const AxisState& a = s.axes[leaves[i]];
    if (a.mark.kind == ForKind::kVectorized)
      KP_THROW(ValueError) << Place("reorder", s, a.name) << "it is vectorized and must stay innermost";
  }
  std::vector<size_t> before, after;
  for (const size_t a : s.leaves) {
    if (s.axes[a].is_reduction) before.push_back(a);
  }
  for (const size_t a : leaves) {
    if (s.axes[a].is_reduction) after.push_back(a);
  }
  for (size_t i = 0; i < before.size() && s.OrderMatters(); ++i) {
    if (before[i] == after[i]) continue;
    KP_THROW(ValueError) << Place("reorder", s, s.axes[after[i]].name) << "moving it before '" << s.axes[before[i]].name
                         << "' changes the order in which floats are joined, which is "
                         << (s.stage.combine->lanes ? "any " + std::to_string(s.stage.combine->lanes) : "sequential")
                         << "; keep reduction axes in their order";
  }
  for (size_t i = 0; i < leaves.size(); ++i) {
    const bool inside = i + after.size() < leaves.size() && s.axes[leaves[i]].is_reduction;
    if (inside) CheckLoopsMayJoin(Place("reorder", s, s.axes[leaves[i]].name), s);
  }
  s.leaves = std::move(leaves);
  return "";
}

}  // namespace kernpack::sdk::ir
