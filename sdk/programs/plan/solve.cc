#include "plan/solve.h"

#include <algorithm>

#include "plan/canonical.h"
#include "plan/solver.h"
#include "program/fail.h"
#include "target/host.h"

namespace kernpack::sdk::program {

Solver::Solver(const ProgramModule& module, const PlanContext& context, const Writes& writes)
    : module_(module),
      config_(context.config),
      functions_(*context.functions),
      writes_(writes),
      index_(GetIndex(module)),
      elements_(module),
      devices_(elements_.count()),
      scopes_(elements_.count()) {
  for (const Program& p : module.programs) tuples_.emplace_back(p);
}

Places Solver::Run(bool follow_uses) {
  const size_t count = module_.programs.size();
  for (size_t p = 0; p < count; ++p) Constrain(p);
  for (size_t p = 0; p < count; ++p) Bind(p);
  for (size_t p = 0; p < count && follow_uses; ++p) FollowUses(p);
  for (size_t p = 0; p < count; ++p) FollowResults(p, follow_uses);
  Settle();
  for (size_t p = 0; p < count; ++p) FollowScopes(p);
  return Read();
}

void Solver::Settle() {
  for (uint32_t e = 0; e < elements_.count(); ++e) {
    if (devices_.Find(e) == e) SettleOne(e);
  }
}

void Solver::SettleOne(uint32_t element) {
  DeviceFacts& facts = devices_[element];
  VirtualDevice otherwise = config_->default_primitive_virtual_device();
  const std::vector<int32_t>& types = facts.types;
  const bool fits = types.empty() || std::find(types.begin(), types.end(), *otherwise.device_type()) != types.end();
  if (!facts.device.device_type() && !fits) {
    const auto type = std::find_if(types.begin(), types.end(), [&](int32_t t) { return HasTarget(*config_, t); });
    if (type == types.end()) {
      const Program& p = module_.programs[facts.types_origin.program];
      std::string names;
      for (const int32_t t : types) names += (names.empty() ? "" : " or ") + DeviceTypeName(t);
      Fail(p.steps[facts.types_origin.index].position, p,
           Describe(p, p.steps[facts.types_origin.index]) + ": runs on " + names +
               " only, for which the compilation has no target; add one");
    }
    otherwise = VirtualDevice::ForDeviceType(*type, 0);
  }
  facts.device = Canonical(config_, VirtualDevice::Default(facts.device, otherwise));
}

VirtualDevice Solver::GetDevicePlace(uint32_t element) {
  return WithScope(devices_[element].device, scopes_[element].scope);
}

Places Solver::Read() {
  Places places;
  for (size_t p = 0; p < module_.programs.size(); ++p) {
    const Program& program = module_.programs[p];
    auto& values = places.values.emplace_back();
    for (size_t v = 0; v < program.values.size(); ++v) values.push_back(GetDevicePlace(elements_.Value(p, v)));
    auto& results = places.results.emplace_back();
    for (size_t i = 0; i < program.results.size(); ++i) results.push_back(GetDevicePlace(elements_.Result(p, i)));
  }
  return places;
}

void Solver::FailConflict(size_t p, Position at, const std::string& what, const char* advice) const {
  Fail(at, module_.programs[p],
       what + " cannot be both on " + conflict_.left + ", as " + Describe(module_, conflict_.left_origin) +
           " requires, and on " + conflict_.right + ", as " + Describe(module_, conflict_.right_origin) +
           " requires: " + advice);
}

Places Solve(const ProgramModule& module, const PlanContext& context, const Writes& writes, bool follow_uses) {
  return Solver(module, context, writes).Run(follow_uses);
}

}  // namespace kernpack::sdk::program
