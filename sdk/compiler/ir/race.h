// Proves that the iterations of a loop are independent.
#ifndef KERNPACK_SDK_COMPILER_IR_RACE_H_
#define KERNPACK_SDK_COMPILER_IR_RACE_H_

#include <kernpack/sdk/ir/stmt.h>

#include "ir/polynomial.h"

namespace kernpack::sdk::ir {

// The buffer that two iterations may both touch, one of them writing; null when it is proved that there is none.
// `facts` are those outside the loop; what is learnt of variables that the loop defines is forgotten after it.
const BufferNode* FindRace(const IRModule& module, const StmtNode& loop, Facts* facts);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_RACE_H_
