// Finds the names that a block uses and doesn't define, and the widest elements that it computes with, by which its vectors are
// sized.
#ifndef KERNPACK_SDK_COMPILER_IR_USES_H_
#define KERNPACK_SDK_COMPILER_IR_USES_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

struct FreeNames {
  std::vector<Var> vars;  // in the order of their first use; those in extents of used buffers included
  std::vector<Buffer> buffers;
};
FreeNames FreeIn(const Block& block);

// Bits of the widest element that is loaded, stored or computed; what only indexes memory, i64 and bools do not count.
int WidestBits(const Block& block);

// Lanes of such elements in vectors of `bytes`; 2 at least.
int CountLanes(const Block& block, int bytes);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_USES_H_
