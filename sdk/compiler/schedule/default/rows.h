// Rows that the threads of a block compute together.
#ifndef KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_ROWS_H_
#define KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_ROWS_H_

#include <kernpack/sdk/ir/stmt.h>

#include <functional>
#include <optional>

#include "schedule/default/processor.h"

namespace kernpack::sdk::ir {

// True if the iterations of a loop, inside `outer` (nullable), are provably independent.
using IsIndependent = std::function<bool(const StmtNode& loop, const StmtNode* outer)>;

// A loop over independent rows, each a line of values, stores, simple loops and `reduce`s of order any, as a launch of
// one block per row. Nothing where it is of another form, or no `reduce` would gain.
std::optional<Block> LaunchRows(const StmtNode& loop, const IsIndependent& is_independent, const Processor& machine);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_ROWS_H_
