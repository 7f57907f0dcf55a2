// Finds the names that a block uses and doesn't define.
#ifndef KERNPACK_SDK_COMPILER_IR_FREE_H_
#define KERNPACK_SDK_COMPILER_IR_FREE_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

struct FreeNames {
  std::vector<Var> vars;        // in the order of their first use; those in extents of used buffers included
  std::vector<Buffer> buffers;
};
FreeNames FreeIn(const Block& block);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_FREE_H_
