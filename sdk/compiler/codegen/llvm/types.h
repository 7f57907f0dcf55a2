// LLVM's types of the IR's types, and of C structs.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_LLVM_TYPES_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_LLVM_TYPES_H_

#include <kernpack/sdk/ir/type.h>
#include <llvm/IR/IRBuilder.h>
#include <kernpack/sdk/target.h>
#include <llvm/IR/FMF.h>

namespace kernpack::sdk::ir {

// Of a value with its lanes. bool is i1; f16, bf16 and the f8 types, which are moved and cast only, are integers.
llvm::Type* ValueType(llvm::LLVMContext& context, Type t);
// As it lies in memory: bool is a byte.
llvm::Type* MemoryType(llvm::LLVMContext& context, Type t);
// KpFrameCall and KpKernelArg of C.
llvm::StructType* FrameCallType(llvm::IRBuilder<>& b);
llvm::StructType* KernelArgType(llvm::IRBuilder<>& b);

// The changes to float operations that a target allows LLVM.
// Contraction unless the target forbids it, which the IR's semantics allow; all else only where the target asks for it, by
// fast-math or the single option. A single option wins over fast-math.
llvm::FastMathFlags GetFastMathFlags(const Target& target);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_LLVM_TYPES_H_
