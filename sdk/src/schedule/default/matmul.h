// Products of matrices: how they are recognised and run.
#ifndef KERNPACK_SDK_SRC_SCHEDULE_DEFAULT_MATMUL_H_
#define KERNPACK_SDK_SRC_SCHEDULE_DEFAULT_MATMUL_H_

#include "schedule/default/lift.h"
#include "schedule/default/processor.h"

namespace kernpack::sdk::ir {

// o[..., i, j] = sum over k, in order, of left[..., i, k] * right[..., k, j]; without i: of one row.
struct Matmul {
  std::string row;  // the axis i; empty: of one row
  std::string column, sum;  // j and k
  Expr rows;  // extent of i
  std::string left, right;  // tensors
  int left_dim = 0, right_dim = 0;  // of i in left, of j in right
  bool right_is_transposed = false;  // j is not the last dimension of right
};
std::optional<Matmul> MatchMatmul(const Stage& stage);

// Register tiles over packed panels; rows one at a time where there are few.
Block ScheduleMatmul(const Lifted& lifted, const Matmul& matmul, const Processor& machine);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SRC_SCHEDULE_DEFAULT_MATMUL_H_
