// Which parameters a program may return as they are, so that a result of it may be its argument's memory.
#ifndef KERNPACK_SDK_PROGRAMS_PLAN_RETURNED_PARAMETERS_H_
#define KERNPACK_SDK_PROGRAMS_PLAN_RETURNED_PARAMETERS_H_

#include "plan/tuples.h"
#include "program/structure.h"

namespace kernpack::sdk::program {

class HandedOn {
 public:
  explicit HandedOn(const ProgramModule& module) : index_(GetIndex(module)), returns_(module.programs.size()) {
    for (const size_t i : CalleesFirst(module, index_)) {
      const Program& p = module.programs[i];
      const Tuples tuples(p);
      std::vector<bool> returned(p.values.size());
      for (const Result& r : p.results) returned[tuples.FindOwner(r.value)] = true;
      for (auto s = p.steps.rbegin(); s != p.steps.rend(); ++s) {
        bool any = false;
        for (const ValueId v : s->results) any = any || returned[v];
        for (size_t arg = 0; any && arg < s->args.size(); ++arg) {
          if (By(*s, arg)) returned[tuples.FindOwner(s->args[arg])] = true;
        }
      }
      for (const ValueId v : p.params) returns_[i].push_back(returned[v]);
    }
  }

  // True if a result of the step may be its argument `arg`.
  bool By(const Step& step, size_t arg) const {
    const size_t first = step.kind == StepKind::kIf ? 1 : 0;
    if (arg < first) return false;
    for (const std::string_view name : GetPrograms(step)) {
      if (returns_[index_.at(name)][arg - first]) return true;
    }
    return false;
  }

 private:
  const ProgramIndex index_;
  std::vector<std::vector<bool>> returns_;  // by program and parameter
};

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PLAN_RETURNED_PARAMETERS_H_
