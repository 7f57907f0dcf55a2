// The rules that a module must satisfy before code is generated from it.
#ifndef KERNPACK_SDK_IR_VERIFY_H_
#define KERNPACK_SDK_IR_VERIFY_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

// The largest depth of nested calls of functions, and of nested invocations of programs.
inline constexpr int kMostNestedCalls = 100;

// Throws the first problem found: "line 3, column 5: softmax: ...", with the file before it if
// known, and without the position if the node has none.
// Checks names; that variables and buffers are used inside their block; that inputs are not written; that no access is
// provably out of bounds; that calls fit; that host code of a device's target touches no device memory; that launches
// fit the Target; that the iterations of parallel and vectorized loops are provably independent.
void Verify(const IRModule& module);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_IR_VERIFY_H_
