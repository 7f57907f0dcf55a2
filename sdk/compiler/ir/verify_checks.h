// Two checks of Verify(): of "N...", the extent that stands for all leading dimensions of a tensor; and of persistent memory that is
// named twice at once, where a second request may make it grow, and the first would be left with what was.
#ifndef KERNPACK_SDK_COMPILER_IR_VERIFY_CHECKS_H_
#define KERNPACK_SDK_COMPILER_IR_VERIFY_CHECKS_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

// The fault of the leading extent of a tensor parameter; "" if there is none. `leading` is the leading extent of the earlier
// parameters, null if they have none, and becomes the extent of this parameter.
std::string FaultOfLeading(const Param& p, Var* leading);

// ValueError where a key is allocated while a buffer of that key lives, in the same function or in one that it calls. The module's
// calls are sound: every callee is there, and none calls itself.
void CheckPersistentKeys(const IRModule& module);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_VERIFY_CHECKS_H_
