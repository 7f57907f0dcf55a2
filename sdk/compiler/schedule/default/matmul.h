// Products of matrices: how they are recognised and run.
#ifndef KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_MATMUL_H_
#define KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_MATMUL_H_

#include "schedule/default/lift.h"
#include "schedule/default/processor.h"

namespace kernpack::sdk::ir {

// o[..., i, j] = f(sum over k of left[..., i, k] * right[..., k, j], ...); without i: of one row. f is anything
// that is computed of the element alone: a bias, a factor, an activation, a cast, or nothing.
struct Matmul {
  Lifted lifted;
  std::string row;  // the axis i; empty: of one row
  std::string column, sum;  // j and k
  Expr rows;  // extent of i
  std::string left, right;  // tensors
  int left_dim = 0, right_dim = 0;  // of i in left, of j in right
  bool right_is_transposed = false;  // j is not the last dimension of right
  int lanes = 0;  // of the order of the sum; 0: in order, or the order changes nothing
  size_t sums_at = 0;  // the stage that adds up; before it: packed operands
  std::string
      excess;  // a stage before it that sums up the right operand, for what was added to the left one; empty: none

  const Stage& sums() const { return lifted.program.stages[sums_at]; }
};
std::optional<Matmul> MatchMatmul(const Surroundings& around, const Stmt& nest);
// How often the variable is an index of the load.
long TimesUsed(const ExprNode& load, const Var& var);
// The stage that computes the sums, apart from the one that stores what is made of them.
std::string SumsApart(Schedule* schedule, const Matmul& matmul);

// Register tiles over packed panels; rows one at a time where there are few.
Block ScheduleMatmul(const Matmul& matmul, const Processor& machine);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_SCHEDULE_DEFAULT_MATMUL_H_
