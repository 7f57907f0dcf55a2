// Local buffers that are one vector: what compilers keep in a register only when it is a variable.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_C_FAMILY_REGISTERS_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_C_FAMILY_REGISTERS_H_

#include <kernpack/sdk/ir/stmt.h>

#include <unordered_set>

namespace kernpack::sdk::ir {

// Those whose every access is to all elements at once, in the function or loop body that allocates them.
std::unordered_set<const BufferNode*> FindRegisters(const Block& body);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_C_FAMILY_REGISTERS_H_
