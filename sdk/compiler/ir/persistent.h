// Persistent memory that is named twice at once: a second request may make it grow, and the first would be left with what was.
#ifndef KERNPACK_SDK_COMPILER_IR_PERSISTENT_H_
#define KERNPACK_SDK_COMPILER_IR_PERSISTENT_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

// ValueError where a key is allocated while a buffer of that key lives, in the same function or in one that it calls. The module's
// calls are sound: every callee is there, and none calls itself.
void CheckPersistentKeys(const IRModule& module);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_PERSISTENT_H_
