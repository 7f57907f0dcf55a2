#include <kernpack/sdk/program/plan.h>
#include <kernpack/sdk/program/verify.h>

#include "plan/canonical.h"
#include "plan/effects.h"
#include "plan/solve.h"
#include "plan/tuples.h"

namespace kernpack::sdk::program {
namespace {

ProgramModule Placed(ProgramModule module, const Places& places) {
  for (size_t p = 0; p < module.programs.size(); ++p) {
    Program& program = module.programs[p];
    for (size_t v = 0; v < program.values.size(); ++v) program.values[v].device = places.values[p][v];
    for (size_t i = 0; i < program.results.size(); ++i) {
      Result& r = program.results[i];
      const VirtualDevice& place = places.results[p][i];
      // One that nobody annotated says where it is by its value, unless that is elsewhere.
      if (!r.device.IsFullyUnconstrained() || !(place == places.values[p][r.value])) r.device = place;
    }
  }
  return module;
}

size_t CountCopies(ProgramModule module, const PlanContext& context) {
  Plan plan{std::move(module), {}, {}};
  InsertCopies(&plan, context);
  ElideCopies(&plan, context);
  size_t copies = 0;
  for (const Program& p : plan.module.programs) {
    for (const Step& s : p.steps) copies += s.kind == StepKind::kCopy;
  }
  return copies;
}

}  // namespace

void InferTypes(Plan* plan, const PlanContext& context) {
  std::vector<std::vector<Type>> types = InferTypes(plan->module, *context.functions);
  for (size_t p = 0; p < types.size(); ++p) {
    for (size_t v = 0; v < types[p].size(); ++v) plan->module.programs[p].values[v].type = std::move(types[p][v]);
  }
  RefuseSharedWrites(plan->module, *context.functions);  // follows tuples, so types come first
}

void Place(Plan* plan, const PlanContext& context) {
  const Writes writes(plan->module, *context.functions);
  ProgramModule followed = Placed(plan->module, Solve(plan->module, context, writes, true));
  const size_t copies = CountCopies(followed, context);
  if (copies) {
    // A long way behind one use can lead many calls to where their other arguments are not; then the defaults are better.
    ProgramModule defaults = Placed(plan->module, Solve(plan->module, context, writes, false));
    if (CountCopies(defaults, context) < copies) followed = std::move(defaults);
  }
  plan->module = std::move(followed);
}

VirtualDevice CallDevice(const Program& program, const Step& step, const Function* function,
                         const CompilationConfig& config) {
  const auto at = [&](ValueId v) { return WithoutScope(program.values[v].device); };
  const auto is_tensor = [&](ValueId v) { return IsData(program.values[v].type); };
  for (const ValueId v : step.results) {
    if (is_tensor(v)) return at(v);
  }
  for (size_t i = 0; function && i < step.args.size(); ++i) {
    if (CallWrites(*function, i) && is_tensor(step.args[i])) return at(step.args[i]);
  }
  for (size_t i = 0; i < step.args.size(); ++i) {
    if (is_tensor(step.args[i]) && !(function && CallWantsHost(*function, i))) return at(step.args[i]);
  }
  return config.host_virtual_device();
}

}  // namespace kernpack::sdk::program
