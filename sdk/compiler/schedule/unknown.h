// Variables that have no value.
#ifndef KERNPACK_SDK_COMPILER_SCHEDULE_UNKNOWN_H_
#define KERNPACK_SDK_COMPILER_SCHEDULE_UNKNOWN_H_

#include <kernpack/sdk/schedule/stage.h>

#include <set>

namespace kernpack::sdk::ir {

// Variables that have a value everywhere in a function: extents that its inputs bind, and its scalars.
std::set<const VarNode*> CollectVariables(const FuncNode& function);
// A variable of the stage's extents and body that is neither of these nor bound in the stage; null when there is none.
// `in_body`: variables that have a value too, but aren't extents.
const VarNode* FindUnknown(const Stage& stage, const std::set<const VarNode*>& of_function,
                           const std::set<const VarNode*>& in_body = {});

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_SCHEDULE_UNKNOWN_H_
