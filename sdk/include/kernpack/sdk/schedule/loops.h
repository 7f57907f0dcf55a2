// Schedules of plain loops, in functions that aren't stage programs. A loop is named by its variable.
#ifndef KERNPACK_SDK_SCHEDULE_LOOPS_H_
#define KERNPACK_SDK_SCHEDULE_LOOPS_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

// Each returns the module with one loop of the function changed; the loop must be serial. NameError for an unknown function
// or loop; ValueError for a name that two loops have, and for violations of the rules below.

// i = i_o * factor + i_i, in the same order; the remainder in a loop of its own (kPeeled), or each iteration after a test
// (kMasked).
IRModule SplitLoop(const IRModule& module, const std::string& function, const std::string& loop, int64_t factor,
                   Tail tail = Tail::kPeeled);
// Bounds must be constant, at most 64 apart.
IRModule UnrollLoop(const IRModule& module, const std::string& function, const std::string& loop);
// The verifier must find the iterations independent.
IRModule ParallelLoop(const IRModule& module, const std::string& function, const std::string& loop, int grain = 0);
IRModule VectorizeLoop(const IRModule& module, const std::string& function, const std::string& loop, int lanes,
                       Tail tail = Tail::kPeeled);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SCHEDULE_LOOPS_H_
