// The generator of kind `c`: a module as one C99 file.
#ifndef KERNPACK_SDK_CODEGEN_C_H_
#define KERNPACK_SDK_CODEGEN_C_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

// The source of a kernpack module with every function that is not private, each with the signature given for it or
// derived from its parameters. It includes headers of kernpack that are plain C and those of the C library, nothing else, and
// compiles alone without a warning. Runs Lower().
// Its vectors have `vector_bytes` at most: compilers do badly with wider ones than the processor has.
// Errors: what Lower() and SignatureOf() find; ValueError when every function is private; NotImplementedError for a
// Launch, which the kind c has no device for.
std::string GenerateC(const IRModule& module, int vector_bytes = 16);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_CODEGEN_C_H_
