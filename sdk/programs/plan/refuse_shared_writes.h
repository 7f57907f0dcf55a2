// In place writes whose order with others could not be planned.
#ifndef KERNPACK_SDK_PROGRAMS_PLAN_REFUSE_SHARED_WRITES_H_
#define KERNPACK_SDK_PROGRAMS_PLAN_REFUSE_SHARED_WRITES_H_

#include <kernpack/sdk/program/function_table.h>
#include <kernpack/sdk/program/program.h>

namespace kernpack::sdk::program {

// ValueError where a step writes in place to a tensor that has two names, naming the step. The module's types are checked.
void RefuseSharedWrites(const ProgramModule& module, const FunctionTable& functions);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PLAN_REFUSE_SHARED_WRITES_H_
