#include <kernpack/sdk/program/plan.h>

#include <algorithm>

#include "plan/effects.h"
#include "plan/rewriter.h"
#include "plan/tuples.h"

namespace kernpack::sdk::program {
namespace {

// True if both name the same memory, whatever their targets.
bool SamePlace(const VirtualDevice& a, const VirtualDevice& b) {
  return a.device_type() == b.device_type() && a.virtual_device_id() == b.virtual_device_id() &&
         a.memory_scope() == b.memory_scope();
}

// True if code on `user` may use data at `memory` without a copy. The scope of `user` names the memory that it needs.
bool MayUse(const VirtualDevice& memory, const VirtualDevice& user, const PlanOptions& options) {
  if (user.memory_scope() && user.memory_scope() != memory.memory_scope()) return false;
  return std::any_of(options.access.begin(), options.access.end(), [&](const Access& a) {
    return a.memory_type == memory.device_type() && a.device_type == user.device_type() &&
           (a.memory_scope.empty() || a.memory_scope == memory.memory_scope()) &&
           (!a.same_id || memory.virtual_device_id() == user.virtual_device_id());
  });
}

// Values that leave the program, or go to another one, which was told where they are.
std::vector<bool> Handed(const Program& p, const Tuples& tuples) {
  std::vector<bool> handed(p.values.size());
  for (const Step& s : p.steps) {
    if (s.kind != StepKind::kIf && s.kind != StepKind::kInvoke) continue;
    for (const ValueId v : s.args) handed[tuples.FindOwner(v)] = true;
  }
  for (const Result& r : p.results) handed[tuples.FindOwner(r.value)] = true;
  return handed;
}

Program Elided(const ProgramModule& module, size_t number, const Writes& writes, const PlanOptions& options) {
  const Program& p = module.programs[number];
  const Tuples tuples(p);
  const std::vector<bool> handed = Handed(p, tuples);
  Rewriter out(p);
  for (const Step& s : p.steps) {
    if (s.kind == StepKind::kCopy) {
      const ValueId from = s.args[0], to = s.results[0];
      // The source of the copy may itself be an elided copy.
      const VirtualDevice memory = out.to().values[out[from]].device;
      const VirtualDevice& user = p.values[to].device;
      const bool written = writes.Written(number, from) || writes.Written(number, to);
      if (!written && (SamePlace(memory, user) || (!handed[to] && MayUse(memory, user, options)))) {
        out.Replace(to, out[from]);
        continue;
      }
    }
    out.Keep(s, out.Renumbered(s.args));
  }
  for (const Result& r : p.results) out.to().results.push_back({out[r.value], r.device, r.position});
  return std::move(out.to());
}

// Without copies that nothing uses.
Program WithoutDead(const Program& p) {
  std::vector<bool> used(p.values.size()), dead(p.steps.size());
  for (const Result& r : p.results) used[r.value] = true;
  for (size_t s = p.steps.size(); s-- > 0;) {
    dead[s] = p.steps[s].kind == StepKind::kCopy && !used[p.steps[s].results[0]];
    for (const ValueId v : p.steps[s].args) used[v] = used[v] || !dead[s];
  }
  Rewriter out(p);
  for (size_t s = 0; s < p.steps.size(); ++s) {
    if (!dead[s]) out.Keep(p.steps[s], out.Renumbered(p.steps[s].args));
  }
  for (const Result& r : p.results) out.to().results.push_back({out[r.value], r.device, r.position});
  return std::move(out.to());
}

}  // namespace

void ElideCopies(Plan* plan, const PlanContext& context) {
  const Writes writes(plan->module, *context.functions);
  ProgramModule out;
  for (size_t p = 0; p < plan->module.programs.size(); ++p) {
    out.programs.push_back(WithoutDead(Elided(plan->module, p, writes, context.options)));
  }
  plan->module = std::move(out);
}

}  // namespace kernpack::sdk::program
