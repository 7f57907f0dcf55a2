#include <kernpack/error.h>
#include <kernpack/signature/program.h>

#include "plan/canonical.h"
#include "plan/solver.h"
#include "program/fail.h"

namespace kernpack::sdk::program {

void Solver::Constrain(size_t p) {
  const Program& program = module_.programs[p];
  for (size_t v = 0; v < program.values.size(); ++v) {
    const Value& value = program.values[v];
    Origin origin{OriginKind::kAnnotation, static_cast<uint32_t>(p), static_cast<uint32_t>(v)};
    Require(p, elements_.Value(p, v), value.device, origin, value.position);
    if (!value.type.is_host()) continue;
    origin.kind = OriginKind::kHost;
    Require(p, elements_.Value(p, v), config_->host_virtual_device(), origin, value.position);
  }
  for (size_t i = 0; i < program.results.size(); ++i) {
    const Origin origin{OriginKind::kResultAnnotation, static_cast<uint32_t>(p), static_cast<uint32_t>(i)};
    Require(p, elements_.Result(p, i), program.results[i].device, origin, program.results[i].position);
  }
  for (size_t s = 0; s < program.steps.size(); ++s) {
    if (program.steps[s].kind == StepKind::kCall) ConstrainCall(p, s);
  }
}

void Solver::Require(size_t p, uint32_t element, const VirtualDevice& device, const Origin& origin, Position at) {
  if (device.IsFullyUnconstrained()) return;
  DeviceFacts facts;
  try {
    facts.device = WithoutScope(Canonical(config_, device));
  } catch (const Error& e) {
    Fail(at, module_.programs[p], Describe(module_, origin) + ": " + e.what());
  }
  facts.type_origin = facts.id_origin = facts.target_origin = origin;
  if (devices_.Constrain(element, facts, &conflict_) &&
      scopes_.Constrain(element, {device.memory_scope(), origin}, &conflict_)) {
    return;
  }
  const std::string what = origin.kind == OriginKind::kResultAnnotation ? "result " + std::to_string(origin.index)
                                                                        : GetName(module_.programs[p], origin.index);
  FailConflict(p, at, what, "drop one of the two, or copy the value and annotate the copy");
}

void Solver::ConstrainCall(size_t p, size_t s) {
  const Step& step = module_.programs[p].steps[s];
  const Function& function = *functions_.Find(step.callee);
  const Origin origin{OriginKind::kFunction, static_cast<uint32_t>(p), static_cast<uint32_t>(s)};
  DeviceFacts facts;
  facts.types = function.device_types;
  facts.types_origin = origin;
  const int32_t on = function.words() ? signature::View{function.words()}.OnDeviceType() : 0;
  if (on) facts.types = {on};
  devices_.Constrain(elements_.Step(p, s), facts, &conflict_);  // cannot fail: nothing else is known of the call yet
  for (size_t i = 0; i < step.results.size() && i < function.result_scopes.size(); ++i) {
    if (function.result_scopes[i].empty()) continue;
    const uint32_t result = elements_.Value(p, step.results[i]);
    if (scopes_.Constrain(result, {function.result_scopes[i], origin}, &conflict_)) continue;
    FailConflict(p, step.position, GetName(module_.programs[p], step.results[i]),
                 "drop the annotation, or copy the value and annotate the copy");
  }
}

void Solver::Bind(size_t p) {
  const Program& program = module_.programs[p];
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    if (step.kind == StepKind::kCall) BindCall(p, s);
    if (step.kind == StepKind::kTupleGet && IsTensor(p, step.results[0])) {
      const ValueId element = tuples_[p].FindOwner(step.results[0]);
      MustShare(p, elements_.Value(p, element), elements_.Value(p, step.results[0]), step.position);
    }
    if (step.kind == StepKind::kIf) BindBranches(p, step);
    if (step.kind == StepKind::kIf || step.kind == StepKind::kInvoke) BindWritten(p, step);
  }
}

// A call is where its results are and what it writes is; else where its first tensor is.
void Solver::BindCall(size_t p, size_t s) {
  const Step& step = module_.programs[p].steps[s];
  const Function& function = *functions_.Find(step.callee);
  bool bound = false;
  const auto bind = [&](ValueId v) {
    MustShare(p, elements_.Step(p, s), elements_.Value(p, v), step.position, /*scope=*/false);
    bound = true;
  };
  for (const ValueId v : step.results) {
    if (IsTensor(p, v)) bind(v);
  }
  for (size_t i = 0; i < step.args.size(); ++i) {
    if (CallWrites(function, i)) tuples_[p].ForEachTensor(step.args[i], bind);
  }
  for (size_t i = 0; i < step.args.size() && !bound; ++i) {
    if (!CallWantsHost(function, i))
      tuples_[p].ForEachTensor(step.args[i], [&](ValueId v) { bound ? void() : bind(v); });
  }
}

void Solver::BindBranches(size_t p, const Step& step) {
  const size_t then = index_.at(step.callee), otherwise = index_.at(step.otherwise);
  const Program& a = module_.programs[then];
  const Program& b = module_.programs[otherwise];
  for (size_t i = 0; i < a.params.size(); ++i) {
    MustShare(p, elements_.Value(then, a.params[i]), elements_.Value(otherwise, b.params[i]), step.position);
  }
  for (size_t i = 0; i < a.results.size(); ++i) {
    MustShare(p, elements_.Result(then, i), elements_.Result(otherwise, i), step.position);
  }
}

// A program writes to the caller's own tensor, never to a copy.
void Solver::BindWritten(size_t p, const Step& step) {
  const size_t first = step.kind == StepKind::kIf ? 1 : 0;
  const size_t callee = index_.at(step.callee);
  for (size_t i = first; i < step.args.size(); ++i) {
    if (!writes_.ByStep(step, i)) continue;
    const ValueId param = module_.programs[callee].params[i - first];
    MustShare(p, elements_.Value(p, step.args[i]), elements_.Value(callee, param), step.position);
  }
}

void Solver::MustShare(size_t p, uint32_t a, uint32_t b, Position at, bool scope) {
  if (devices_.Unify(a, b, &conflict_) && (!scope || scopes_.Unify(a, b, &conflict_))) return;
  FailConflict(p, at, "what has to be in one place here",
               "make the two agree, or copy the value and annotate the copy");
}

}  // namespace kernpack::sdk::program
