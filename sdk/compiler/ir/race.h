// Races: loops whose iterations are provably independent, and threads of a block that meet in shared memory.
#ifndef KERNPACK_SDK_COMPILER_IR_RACE_H_
#define KERNPACK_SDK_COMPILER_IR_RACE_H_

#include <optional>
#include <string>

#include <kernpack/sdk/ir/stmt.h>

#include "ir/polynomial.h"

namespace kernpack::sdk::ir {

// The buffer that two iterations may both touch, one of them writing; null when it is proved that there is none.
// `facts` are those outside the loop; what is learnt of variables that the loop defines is forgotten after it.
const BufferNode* FindRace(const IRModule& module, const StmtNode& loop, Facts* facts);

struct SharedRace {
  Position position;  // of the second access
  std::string text;
};

// Two accesses of one element by two threads of a block, one of them a store, with no barrier between, where the first block of
// a launch provably makes them: found by following its threads with extents of 1024, as far as indices, conditions and bounds
// follow from constants, extents and indices of threads. What follows from memory or from arguments is left out; none found means
// nothing.
std::optional<SharedRace> FindSharedRace(const FuncNode& f);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_RACE_H_
