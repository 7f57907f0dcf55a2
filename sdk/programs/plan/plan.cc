#include <kernpack/sdk/program/plan.h>

#include "program/print.h"
#include "program/structure.h"

namespace kernpack::sdk::program {
namespace {

std::string FormatList(const std::vector<ValueId>& values, const std::vector<std::string>& names) {
  std::string out;
  for (const ValueId v : values) out += (out.empty() ? "" : ", ") + names[v];
  return out;
}

// "stream 1, after steps 3, 5; b2: 4 * N; frees x".
std::string Comment(const PlannedProgram& planned, const Program& p, size_t s, const std::vector<std::string>& names) {
  if (planned.steps.empty()) return "";
  const PlannedStep& step = planned.steps[s];
  std::string out;
  const auto add = [&out](const std::string& part) { out += (out.empty() ? "" : "; ") + part; };
  if (step.barrier) add("barrier");
  if (step.stream != kNoStream) {
    std::string waits;
    for (const uint32_t w : step.waits) waits += (waits.empty() ? ", after " : ", ") + std::to_string(w);
    add(std::to_string(s) + ": stream " + std::to_string(step.stream) + waits);
  }
  for (const ValueId v : p.steps[s].results) {
    if (v >= planned.buffer_of.size() || planned.buffer_of[v] == kNoBuffer) continue;
    const uint32_t b = planned.buffer_of[v];
    add("b" + std::to_string(b) + " of " + planned.buffers[b].size.str());
  }
  if (!step.frees.empty()) add("frees " + FormatList(step.frees, names));
  return out;
}

}  // namespace

const std::vector<PlanPass>& PlanPasses() {
  static const std::vector<PlanPass> passes = {
      {"infer_types", InferTypes},       {"place", Place},
      {"insert_copies", InsertCopies},   {"elide_copies", ElideCopies},
      {"assign_streams", AssignStreams}, {"assign_buffers", AssignBuffers},
  };
  return passes;
}

Plan MakePlan(const ProgramModule& module, const PlanContext& context, const PlanObserver& observer) {
  CheckStructure(module, GetIndex(module), *context.functions);  // the first pass checks what else Verify() does
  Plan plan{module, {}, {}};
  for (const PlanPass& pass : PlanPasses()) {
    pass.run(&plan, context);
    if (observer) observer(pass, plan);
  }
  return plan;
}

std::string Print(const Plan& plan) {
  std::string out;
  for (size_t i = 0; i < plan.streams.size(); ++i) {
    out += "# stream " + std::to_string(i) + ": " + (plan.streams[i].copies ? "copies, " : "") +
           plan.streams[i].device.str() + "\n";
  }
  for (size_t p = 0; p < plan.module.programs.size(); ++p) {
    const Program& program = plan.module.programs[p];
    const std::vector<std::string> names = SpellValues(program);
    const PlannedProgram none;
    const PlannedProgram& planned = p < plan.programs.size() ? plan.programs[p] : none;
    if (!out.empty()) out += "\n";
    out += Print(program, names, [&](size_t s) { return Comment(planned, program, s, names); });
  }
  return out;
}

}  // namespace kernpack::sdk::program
