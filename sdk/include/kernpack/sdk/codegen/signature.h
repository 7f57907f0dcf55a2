// The contract of a generated function.
#ifndef KERNPACK_SDK_CODEGEN_SIGNATURE_H_
#define KERNPACK_SDK_CODEGEN_SIGNATURE_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

// "(x: f32[N, D], eps: float) -> (out: f32[N, D])", from the parameters. Dims begin with an upper-case letter in a
// signature, so a variable `n` becomes `N`. ValueError when a name or an extent cannot be said in one.
std::string DeriveSignature(const FuncNode& function);
// The one given for the function, or the derived one. ValueError, with the position in it, when it does not compile, or
// when it doesn't mark ('!') the parameters that the function writes, and those only.
std::string SignatureOf(const FuncNode& function);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_CODEGEN_SIGNATURE_H_
