#include "program/structure.h"

#include <kernpack/sdk/ir/verify.h>

#include <algorithm>

#include "program/fail.h"

namespace kernpack::sdk::program {
namespace {

// A program on the way from where the search began to where it is.
struct Visit {
  size_t program;
  size_t step = 0;  // the next to look at
  size_t callee = 0;  // of that step
};

[[noreturn]] void FailCycle(const ProgramModule& module, const std::vector<Visit>& path, size_t again) {
  const auto first = std::find_if(path.begin(), path.end(), [&](const Visit& v) { return v.program == again; });
  std::string names;
  for (auto v = first; v != path.end(); ++v) names += module.programs[v->program].name + " -> ";
  const Program& p = module.programs[path.back().program];
  Fail(p.steps[path.back().step].position, p,
       "programs cannot invoke themselves: " + names + module.programs[again].name + "; write the steps out");
}

}  // namespace

ProgramIndex GetIndex(const ProgramModule& module) {
  ProgramIndex index;
  for (size_t i = 0; i < module.programs.size(); ++i) index.emplace(module.programs[i].name, i);
  return index;
}

std::vector<std::string_view> GetPrograms(const Step& step) {
  if (step.kind == StepKind::kInvoke) return {step.callee};
  if (step.kind == StepKind::kIf) return {step.callee, step.otherwise};
  return {};
}

std::vector<size_t> CalleesFirst(const ProgramModule& module, const ProgramIndex& index) {
  enum : char { kUnseen, kOpen, kDone };
  std::vector<char> state(module.programs.size(), kUnseen);
  std::vector<int> depth(module.programs.size(), 1);  // how many programs run at once
  std::vector<size_t> order;
  std::vector<Visit> path;  // in place of recursion: chains of programs may be long
  for (size_t root = 0; root < module.programs.size(); ++root) {
    if (state[root] == kUnseen) path.push_back({root});
    while (!path.empty()) {
      Visit& at = path.back();
      state[at.program] = kOpen;
      const std::vector<Step>& steps = module.programs[at.program].steps;
      if (at.step == steps.size()) {
        const size_t done = at.program;
        if (depth[done] > ir::kMostNestedCalls) {
          Fail(module.programs[done].position, module.programs[done],
               "programs invoke each other more than " + std::to_string(ir::kMostNestedCalls) +
                   " deep; write the steps of some out");
        }
        state[done] = kDone;
        order.push_back(done);
        path.pop_back();
        if (!path.empty()) depth[path.back().program] = std::max(depth[path.back().program], depth[done] + 1);
        continue;
      }
      const std::vector<std::string_view> callees = GetPrograms(steps[at.step]);
      if (at.callee == callees.size()) {
        ++at.step;
        at.callee = 0;
        continue;
      }
      const auto found = index.find(callees[at.callee]);
      if (found != index.end() && state[found->second] == kOpen) FailCycle(module, path, found->second);
      ++at.callee;
      if (found == index.end()) continue;
      if (state[found->second] == kDone) depth[at.program] = std::max(depth[at.program], depth[found->second] + 1);
      if (state[found->second] == kUnseen) path.push_back({found->second});
    }
  }
  return order;
}

}  // namespace kernpack::sdk::program
