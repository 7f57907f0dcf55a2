// Rules for "N...", the extent that stands for all leading dimensions of a tensor.
#ifndef KERNPACK_SDK_COMPILER_IR_LEADING_H_
#define KERNPACK_SDK_COMPILER_IR_LEADING_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

// The fault of the leading extent of a tensor parameter; "" if there is none. `leading` is the leading extent of the earlier parameters,
// null if they have none, and becomes the extent of this parameter.
std::string FaultOfLeading(const Param& p, Var* leading);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_LEADING_H_
