// Turns the scalar code of one iteration into the vector code of several.
#ifndef KERNPACK_SDK_COMPILER_PASS_WIDEN_H_
#define KERNPACK_SDK_COMPILER_PASS_WIDEN_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

bool CanWiden(const Expr& e);
bool CanWiden(const Block& block);
// `var` takes base, base + 1, ... base + lanes - 1. Lanes whose mask (nullable, and true in some lane) is false touch
// no memory.
Expr Widen(const Expr& e, const Var& var, const Expr& base, int lanes, const Var& mask);
Block Widen(const Block& block, const Var& var, const Expr& base, int lanes, const Var& mask);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_PASS_WIDEN_H_
