#include "plan/solver.h"
#include "program/fail.h"

namespace kernpack::sdk::program {
namespace {

// A computed value with a device of its own is where that says; who uses it may be elsewhere.
bool IsLoose(const Step& definition, const Value& value) {
  const VirtualDevice& d = value.device;
  const bool computes =
      definition.kind == StepKind::kCall || definition.kind == StepKind::kIf || definition.kind == StepKind::kInvoke;
  return computes && (d.device_type() || d.virtual_device_id() || d.target());
}

}  // namespace

template <class Visit>
void Solver::ForEachUse(size_t p, size_t s, const Visit& visit) const {
  const Step& step = module_.programs[p].steps[s];
  if (step.kind == StepKind::kCall) {
    const Function& function = *functions_.Find(step.callee);
    for (size_t i = 0; i < step.args.size(); ++i) {
      if (CallWantsHost(function, i)) continue;
      const std::string& scope = CallWantsScope(function, i);
      tuples_[p].ForEachTensor(step.args[i], [&](ValueId v) { visit(v, elements_.Step(p, s), scope); });
    }
  } else if (step.kind == StepKind::kIf || step.kind == StepKind::kInvoke) {
    const size_t first = step.kind == StepKind::kIf ? 1 : 0;
    const size_t callee = index_.at(step.callee);
    for (size_t i = first; i < step.args.size(); ++i) {
      const ValueId param = module_.programs[callee].params[i - first];
      if (IsTensor(p, step.args[i])) visit(step.args[i], elements_.Value(callee, param), std::string());
    }
  }
}

void Solver::FollowUses(size_t p) {
  const Program& program = module_.programs[p];
  std::vector<bool> loose(program.values.size());
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    ForEachUse(p, s, [&](ValueId v, uint32_t user, const std::string&) {
      if (!loose[tuples_[p].FindOwner(v)]) MayShare(p, v, user, step);
    });
    for (const ValueId v : step.results) loose[v] = IsLoose(step, program.values[v]);
  }
}

// Where both sides are annotated, and differently, the result is copied.
void Solver::FollowResults(size_t p, bool follow_uses) {
  const Program& program = module_.programs[p];
  for (const Step& step : program.steps) {
    for (const std::string_view callee : GetPrograms(step)) {
      for (size_t i = 0; i < step.results.size(); ++i) {
        devices_.Unify(elements_.Result(index_.at(callee), i), elements_.Value(p, step.results[i]), &conflict_);
      }
    }
  }
  for (size_t i = 0; i < program.results.size(); ++i) {
    if (!follow_uses && !program.results[i].device.IsFullyUnconstrained()) continue;
    devices_.Unify(elements_.Value(p, program.results[i].value), elements_.Result(p, i), &conflict_);
  }
}

void Solver::MayShare(size_t p, ValueId v, uint32_t user, const Step& step) {
  if (devices_.Unify(elements_.Value(p, v), user, &conflict_)) return;
  if (conflict_.left_origin.permits_copy() || conflict_.right_origin.permits_copy()) return;
  const Program& program = module_.programs[p];
  FailConflict(p, step.position, GetName(program, v) + " as used by " + Describe(program, step),
               "annotate the value with its device, which permits a copy");
}

// Between things of one device: what is on another is copied anyway.
void Solver::FollowScopes(size_t p) {
  const Program& program = module_.programs[p];
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    const bool call = step.kind == StepKind::kCall;
    const Origin origin{OriginKind::kFunction, static_cast<uint32_t>(p), static_cast<uint32_t>(s)};
    ForEachUse(p, s, [&](ValueId v, uint32_t user, const std::string& scope) {
      const uint32_t value = elements_.Value(p, v);
      if (!SameDevice(value, user)) return;
      if (!call) scopes_.Unify(value, user, &conflict_);
      if (!scope.empty()) scopes_.Constrain(value, {scope, origin}, &conflict_);
    });
    for (const std::string_view callee : GetPrograms(step)) {
      for (size_t i = 0; i < step.results.size(); ++i) {
        const uint32_t from = elements_.Result(index_.at(callee), i), to = elements_.Value(p, step.results[i]);
        if (SameDevice(from, to)) scopes_.Unify(from, to, &conflict_);
      }
    }
  }
  for (size_t i = 0; i < program.results.size(); ++i) {
    const uint32_t value = elements_.Value(p, program.results[i].value), result = elements_.Result(p, i);
    if (SameDevice(value, result)) scopes_.Unify(value, result, &conflict_);
  }
}

}  // namespace kernpack::sdk::program
