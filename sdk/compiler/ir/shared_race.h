// Threads of a block that meet in shared memory.
#ifndef KERNPACK_SDK_COMPILER_IR_SHARED_RACE_H_
#define KERNPACK_SDK_COMPILER_IR_SHARED_RACE_H_

#include <kernpack/sdk/ir/stmt.h>

#include <optional>
#include <string>

namespace kernpack::sdk::ir {

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

#endif  // KERNPACK_SDK_COMPILER_IR_SHARED_RACE_H_
