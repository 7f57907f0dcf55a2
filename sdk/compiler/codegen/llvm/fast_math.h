// What a target lets LLVM do with floats.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_LLVM_FAST_MATH_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_LLVM_FAST_MATH_H_

#include <kernpack/sdk/target.h>
#include <llvm/IR/FMF.h>

namespace kernpack::sdk::ir {

// Contraction unless the target forbids it, which the IR's semantics allow; all else only where the target asks for it, by
// fast-math or the single option. A single option wins over fast-math.
llvm::FastMathFlags FastMathOf(const Target& target);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_LLVM_FAST_MATH_H_
