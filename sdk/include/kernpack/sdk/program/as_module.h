// Programs as functions of a module, which any framework calls like every other op.
//
//   const KpModule* table = AsModule("encoder", {std::make_shared<Executable>(plan, functions, devices)});
//   kp_module_adopt(table, &module);  // kp_call(), or NumPy, torch and JAX through kernpack.Module
#ifndef KERNPACK_SDK_PROGRAM_AS_MODULE_H_
#define KERNPACK_SDK_PROGRAM_AS_MODULE_H_

#include <kernpack/sdk/program/execute.h>

#include <memory>
#include <string>
#include <vector>

namespace kernpack::sdk::program {

// A module with one function a program, named as it is, with Executable::Signature() for a contract. Calls are queued behind what
// is on the caller's current streams, and return before a device is done.
//
// The table and the executables live as long as the process, as every module does. ValueError: a name that no module or function
// can have, two programs of one name, a program that has no signature.
const KpModule* AsModule(const std::string& name, std::vector<std::shared_ptr<const Executable>> programs);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAM_AS_MODULE_H_
