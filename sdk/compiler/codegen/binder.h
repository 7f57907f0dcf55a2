// Which dimension of which parameter binds each of ShapeVars(f).
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_BINDER_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_BINDER_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

struct DimBinder {
  Var var;
  size_t param;
  size_t axis;
};
// In the order of ShapeVars(f).
std::vector<DimBinder> FindBinders(const FuncNode& f);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_BINDER_H_
