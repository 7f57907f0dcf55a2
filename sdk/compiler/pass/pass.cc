#include <kernpack/sdk/ir/pass.h>
#include <kernpack/sdk/ir/verify.h>

namespace kernpack::sdk::ir {

const std::vector<Pass>& LoweringPasses() {
  static const std::vector<Pass> passes = {
      {"lower_while", LowerWhile}, {"bind_extents", BindExtents},
      {"unroll", Unroll},          {"lower_reductions", LowerReductions},
      {"vectorize", Vectorize},    {"expand_math", ExpandMath},
      {"simplify", Simplify},
  };
  return passes;
}

IRModule RunPasses(IRModule module, const std::vector<Pass>& passes, const PassObserver& observer) {
  for (const Pass& pass : passes) {
    module = pass.run(module);
    if (observer) observer(pass, module);
  }
  return module;
}

IRModule Lower(const IRModule& module, const PassObserver& observer) {
  Verify(module);
  return RunPasses(module, LoweringPasses(), observer);
}

}  // namespace kernpack::sdk::ir
