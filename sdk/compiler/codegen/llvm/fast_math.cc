#include "codegen/llvm/types.h"

namespace kernpack::sdk::ir {

llvm::FastMathFlags GetFastMathFlags(const Target& target) {
  const bool all = target.GetAttr<bool>("fast-math", false);
  llvm::FastMathFlags flags;
  flags.setNoNaNs(target.GetAttr<bool>("fast-math-nnan", all));
  flags.setNoInfs(target.GetAttr<bool>("fast-math-ninf", all));
  flags.setNoSignedZeros(target.GetAttr<bool>("fast-math-nsz", all));
  flags.setAllowReciprocal(target.GetAttr<bool>("fast-math-arcp", all));
  flags.setAllowReassoc(target.GetAttr<bool>("fast-math-reassoc", all));
  flags.setAllowContract(target.GetAttr<bool>("fast-math-contract", true));
  return flags;
}

}  // namespace kernpack::sdk::ir
