// The texts of errors that generated code and the interpreter raise alike.
#ifndef KERNPACK_SDK_COMPILER_IR_MESSAGE_H_
#define KERNPACK_SDK_COMPILER_IR_MESSAGE_H_

#include <kernpack/sdk/ir/expr.h>

#include "ir/placeholder.h"

namespace kernpack::sdk::ir {

// "table[idx[i]]": how an access is written. `args` begins with its indices. Long ones are cut.
std::string AccessText(const Buffer& buffer, const std::vector<Expr>& args);
// What an assert says of an index that is out of range; its values are the index and the extent.
std::string OutOfRangeMessage(const std::string& function, const std::string& access, size_t axis);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_MESSAGE_H_
