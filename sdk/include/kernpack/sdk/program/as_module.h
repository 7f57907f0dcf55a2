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

// A module with one function per program, with the program's name and Executable::Signature() as contract. Calls are queued on
// the caller's current streams and return before a device has finished.
//
// The table and the executables live until the process ends, like every module. ValueError: an invalid name of a module or
// function, two programs of one name, a program without a signature.
const KpModule* AsModule(const std::string& name, std::vector<std::shared_ptr<const Executable>> programs);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAM_AS_MODULE_H_
