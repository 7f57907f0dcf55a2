// The functions that callers reach: out of KpAny, into the generated function.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_LLVM_ENTRY_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_LLVM_ENTRY_H_

#include <kernpack/sdk/ir/stmt.h>

#include "codegen/llvm/constants.h"
#include "codegen/llvm/level.h"

namespace kernpack::sdk::ir {

// The KpFrameFunction of a function: what kp_frame_unpack() checks against. For all levels.
llvm::Constant* DescribeFunction(const ConstantMaker& make, const FuncNode& f);
// A KpSafeCall that checks and unpacks its arguments and calls the function of that level. `code`: the KpFrameCode that the
// function of a device launches; else NULL.
llvm::Function* MakeEntry(llvm::Module* module, const Level& level, const FuncNode& f, llvm::Constant* description,
                          llvm::Constant* code);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_LLVM_ENTRY_H_
