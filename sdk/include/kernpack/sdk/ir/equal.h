// Structural equality, and a matching hash. Names bound inside a function are ignored. Names of functions, parameters and
// persistent memory, and everything else that a caller can see, are compared. Positions are ignored.
#ifndef KERNPACK_SDK_IR_EQUAL_H_
#define KERNPACK_SDK_IR_EQUAL_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

bool Equal(const IRModule& a, const IRModule& b);
bool Equal(const FuncNode& a, const FuncNode& b);
// Free variables are equal if they are the same variable.
bool Equal(const Expr& a, const Expr& b);

uint64_t Hash(const IRModule& module);
uint64_t Hash(const FuncNode& function);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_IR_EQUAL_H_
