// Entries of a FunctionTable from functions that run in this process.
#ifndef KERNPACK_SDK_PROGRAM_MODULE_FUNCTIONS_H_
#define KERNPACK_SDK_PROGRAM_MODULE_FUNCTIONS_H_

#include <kernpack/any.h>
#include <kernpack/host/host.h>
#include <kernpack/sdk/program/function_table.h>

namespace kernpack::sdk::program {

// A function of a loaded module, named "module.function". It runs on the devices of its variants; a baseline without
// `on` runs on the CPU. ValueError if a variant's target does not parse.
Function FunctionOf(const KpLoadedFunction& function);
// Adds every function of the module. ValueError if a name is taken or a contract does not compile.
void AddModule(FunctionTable* table, const KpLoadedModule* module);
// A packed function (a FUNCTION) of C++, Python or a foreign host; the entry holds a reference. With a signature it writes to
// destinations, as a module's function does; without one, it returns its result. `device_types`: as Function::device_types.
// TypeError if `callee` isn't a function.
Function FunctionOf(std::string name, Any callee, std::string signature = {},
                    std::vector<int32_t> device_types = {KP_DEVICE_CPU});

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAM_MODULE_FUNCTIONS_H_
