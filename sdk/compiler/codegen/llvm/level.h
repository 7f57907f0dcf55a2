// A CPU that code is made for. A module may hold its functions for several.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_LLVM_LEVEL_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_LLVM_LEVEL_H_

#include <llvm/IR/Function.h>

#include <string>

namespace kernpack::sdk::ir {

struct Level {
  std::string suffix;  // of the names of its functions
  std::string target;  // KpFunctionInfo::target; empty: the baseline
  std::string cpu;  // as LLVM calls it
  std::string features;  // "+aes,-fma"
  bool native_f16 = false;  // converts f16 itself
  int masked_bits = 0;  // of the narrowest elements that it loads and stores under a mask; 0: none
  // Of the widest vector whose pairs of 16-bit integers, or fours of bytes, it multiplies and adds; 0: of none.
  int pair_bits = 0, byte_bits = 0;
};

// Has LLVM generate the function for that CPU.
void SetLevel(const Level& level, llvm::Function* function);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_LLVM_LEVEL_H_
