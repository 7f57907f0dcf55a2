// Default schedules of one nest of loops, and how its stages read memory.
#ifndef KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_NESTS_H_
#define KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_NESTS_H_

#include <kernpack/sdk/schedule/stage.h>

#include "ir/polynomial.h"
#include "schedule/default/lift.h"
#include "schedule/default/matmul.h"
#include "schedule/default/processor.h"
#include "schedule/default/rows.h"

namespace kernpack::sdk::ir {

// For CPUs. Nothing where the nest has no schedule of its own and loops are to be annotated as they are.
std::optional<Block> ScheduleNestForCpu(const Lifted& lifted, const Processor& machine);
// For GPUs: a launch. Of products, where the last two dimensions are all there are.
std::optional<Block> ScheduleMatmulForGpu(const Matmul& matmul, const Processor& machine);
Block ScheduleNestForGpu(const Lifted& lifted, const Processor& machine);

// A loop over rows and columns, or over columns, whose iterations add something up: tiles of registers, with vectors along
// columns. Nothing where it is of another form, or columns aren't next to each other in memory.
std::optional<Block> ScheduleColumns(const StmtNode& loop, const IsIndependent& is_independent, bool in_parallel,
                                     const Processor& machine);

// A serial loop whose iterations depend on each other, in strips, in which what doesn't depend on another iteration runs by itself: as
// vectors, where that has math functions. Nothing where no part of the body would gain.
std::optional<Block> DistributeLoop(const StmtNode& loop, const IsIndependent& is_independent);
// A loop over independent rows with such a loop inside: several rows take turns in each strip, which stays in the cache meanwhile. The
// statement is a loop over groups of rows.
std::optional<Block> DistributeRows(const StmtNode& loop, const IsIndependent& is_independent);

// The body of a function for a CPU. Loops of nests without a schedule of their own become parallel (the outermost) and
// vectorized (the innermost) where their iterations are provably independent.
// `tiles`: on return, whether one has tiles of registers (ScheduleColumns()); none gets them where it is false.
Block ScheduleForCpu(const IRModule& module, const FuncNode& f, const Processor& machine, bool* tiles);

// The same for a GPU: nests become launches, and other loops parallel where their iterations are independent.
Block ScheduleForGpu(const IRModule& module, const FuncNode& f, const Processor& machine);

// Turns code of a device's function that would run on the host into launches. Parallel loops get blocks of `threads` items, one item
// per iteration; other code gets one item.
PrimFunc LaunchItems(const FuncNode& f, int64_t threads);

// The block for one of `count` items of a launch: its parallel loops are serial, and its workspaces are part `index` of
// larger ones, whose allocation is appended to `before`.
Block WorkspacesByItem(const Block& block, const Expr& index, const Expr& count, Block* before);

bool IsUsed(const Var& var, const Expr& e);

// Buffers that the stage reads with the axis in another dimension than their last.
std::vector<Buffer> StridedSources(const Stage& stage, const StageAxis& axis);
// True if every index of these buffers is a single axis.
bool AreIndexedByAxes(const Stage& stage, const std::vector<Buffer>& buffers);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_NESTS_H_
