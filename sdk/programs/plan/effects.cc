#include "plan/effects.h"

#include <kernpack/signature/program.h>

#include "plan/tuples.h"

namespace kernpack::sdk::program {
namespace {

uint32_t FlagsOfParam(const Function& f, size_t arg) {
  if (!f.words() || static_cast<int>(arg) >= signature::View{f.words()}.NumParams()) return 0;
  return signature::GetFlags(signature::View{f.words()}.Param(static_cast<int>(arg)));
}

}  // namespace

bool CallWrites(const Function& function, size_t arg) { return FlagsOfParam(function, arg) & KP_PARAM_MUTATED; }
bool CallWantsHost(const Function& function, size_t arg) { return FlagsOfParam(function, arg) & KP_PARAM_ON_CPU; }

const std::string& CallWantsScope(const Function& function, size_t arg) {
  static const auto& any = *new std::string;
  return arg < function.param_scopes.size() ? function.param_scopes[arg] : any;
}

Writes::Writes(const ProgramModule& module, const FunctionTable& functions)
    : module_(module), functions_(functions), index_(GetIndex(module)), written_(module.programs.size()) {
  for (const size_t i : CalleesFirst(module, index_)) {
    const Program& p = module.programs[i];
    const Tuples tuples(p);
    written_[i].resize(p.values.size());
    for (const Step& s : p.steps) {
      for (size_t arg = 0; arg < s.args.size(); ++arg) {
        if (!ByStep(s, arg)) continue;
        tuples.ForEachTensor(s.args[arg], [&](ValueId v) { written_[i][tuples.FindOwner(v)] = true; });
      }
    }
    for (ValueId v = 0; v < p.values.size(); ++v) {
      if (written_[i][tuples.FindOwner(v)]) written_[i][v] = true;
    }
  }
}

bool Writes::ByStep(const Step& step, size_t arg) const {
  if (step.kind == StepKind::kCall) return CallWrites(*functions_.Find(step.callee), arg);
  const size_t first = step.kind == StepKind::kIf ? 1 : 0;  // behind the condition
  if (arg < first) return false;
  for (const std::string_view name : GetPrograms(step)) {
    const size_t callee = index_.at(name);
    if (written_[callee][module_.programs[callee].params[arg - first]]) return true;
  }
  return false;
}

}  // namespace kernpack::sdk::program
