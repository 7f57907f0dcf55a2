// The generator of kind `c`: a module as one C99 file.
#ifndef KERNPACK_SDK_CODEGEN_C_H_
#define KERNPACK_SDK_CODEGEN_C_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

// The source of a kernpack module with every function that is not private, each with its given signature or one
// derived from its parameters. It includes headers of kernpack that are plain C and of the C library only, and
// compiles by itself without warnings. Runs Lower().
// Its vectors have at most `vector_bytes`: compilers generate slow code for vectors wider than the processor's.
// Errors of Lower() and SignatureOf(); ValueError if every function is private; NotImplementedError for a
// Launch, because the kind c has no device.
std::string GenerateC(const IRModule& module, int vector_bytes = 16);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_CODEGEN_C_H_
