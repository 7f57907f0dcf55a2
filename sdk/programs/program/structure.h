// The shape of a module: names, definitions and uses, numbers of arguments and results. No types.
#ifndef KERNPACK_SDK_PROGRAMS_PROGRAM_STRUCTURE_H_
#define KERNPACK_SDK_PROGRAMS_PROGRAM_STRUCTURE_H_

#include <kernpack/sdk/program/function_table.h>

#include "program/call_order.h"

namespace kernpack::sdk::program {

// ValueError, as Verify().
void CheckStructure(const ProgramModule& module, const ProgramIndex& index, const FunctionTable& functions);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PROGRAM_STRUCTURE_H_
