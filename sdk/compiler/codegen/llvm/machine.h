// From an LLVM module to object code.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_LLVM_MACHINE_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_LLVM_MACHINE_H_

#include <kernpack/sdk/target.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Module.h>

#include <memory>
#include <vector>

#include "codegen/llvm/level.h"

namespace llvm {
class TargetMachine;
}

namespace kernpack::sdk::ir {

using ObjectCode = llvm::SmallVector<char, 0>;

class LlvmMachine {
 public:
  // Position-independent code of the small code model, for the target's triple, or this machine's. ValueError for a triple or
  // a processor that this LLVM does not know.
  explicit LlvmMachine(const Target& target);
  ~LlvmMachine();

  const std::string& triple() const { return triple_; }
  bool is_native() const;
  // The processor that the target names, else this machine's.
  Level OwnLevel() const;
  // Those that an exported module is made for: the one that the target names, else x86-64-v2, v3 and v4, or what every
  // processor of another architecture runs. Never this machine's own.
  std::vector<Level> ExportLevels() const;

  void Optimise(llvm::Module* module) const;
  // Verifies, optimises and emits. RuntimeError when LLVM refuses the module: a mistake of the generator's.
  ObjectCode Compile(llvm::Module* module) const;

 private:
  Target target_;
  std::string triple_;
  std::unique_ptr<llvm::TargetMachine> machine_;

  Level MakeLevel(const std::string& suffix, const std::string& target, const std::string& cpu,
                  const std::string& features) const;
  std::string GivenFeatures() const;
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_LLVM_MACHINE_H_
