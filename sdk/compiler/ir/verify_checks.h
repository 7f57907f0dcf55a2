// Rules for "N...", the extent that stands for all leading dimensions of a tensor.
#ifndef KERNPACK_SDK_COMPILER_IR_LEADING_H_
#define KERNPACK_SDK_COMPILER_IR_LEADING_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

// What is wrong with it in a tensor parameter; "" when nothing is. `leading` is that of the parameters before, null when they
// have none, and becomes this one's.
std::string FaultOfLeading(const Param& p, Var* leading);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_LEADING_H_
