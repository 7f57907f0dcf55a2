// The contract of a generated function.
#ifndef KERNPACK_SDK_CODEGEN_SIGNATURE_H_
#define KERNPACK_SDK_CODEGEN_SIGNATURE_H_

#include <kernpack/sdk/ir/stmt.h>

namespace kernpack::sdk::ir {

// "(x: f32[N, D], eps: float) -> (out: f32[N, D])", from the parameters. Dims begin with an upper-case letter in a
// signature, so a variable `n` becomes `N`. ValueError if a signature cannot express a name or an extent.
std::string DeriveSignature(const FuncNode& function);
// The one given for the function, or the derived one. ValueError, with the position in it, if it does not compile, or
// if the parameters that it marks with '!' aren't those that the function writes.
std::string SignatureOf(const FuncNode& function);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_CODEGEN_SIGNATURE_H_
