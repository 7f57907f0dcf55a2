// One launch as a kernel.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_KERNEL_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_KERNEL_H_

#include <array>
#include <unordered_set>

#include "codegen/c_family/body.h"
#include "codegen/device/kernel_dialect.h"

namespace kernpack::sdk::ir {

// An argument that the host passes, in the order of the kernel's parameters.
struct KernelArgument {
  enum Kind {
    kScalar,
    kMemory,
    kScratch,  // memory for every thread of the launch, one behind the other
    kBlock,    // memory of the block, which the launch asks for; no parameter
    kAsserts,  // the word that an assert which fails writes to; the last one, where the kernel has asserts
  };
  Kind kind;
  Var var;
  Buffer buffer;
  int64_t bytes = 0;  // kBlock's
  Expr value = {};  // kScalar's of an imported kernel, which has no variable
};

// Where a parameter of an imported kernel comes from.
struct ImportedParameter {
  uint32_t argument = 0;  // of the launch
  std::vector<uint32_t> map = {};  // the words of a KpFrameTensorMap; empty: the parameter is the argument
  std::string tensor = {};  // the map's, for errors
};

// A kernel that another compiler made.
struct ImportedKernel {
  std::string function;  // the private function of the module that stands for it
  std::string entry;  // its name in the image
  size_t image = 0;
  uint64_t multiples = 0;  // bit i: parameter i takes multiples of 16 alone: addresses, or integers
  uint32_t shared = 0;  // bytes of dynamic shared memory besides those of the launch
  std::array<uint32_t, 3> cluster = {};  // blocks of a cluster; 0: as the code says
  bool cooperative = false;  // all blocks run at the same time
  std::vector<ImportedParameter> parameters = {};  // empty: the launch's arguments in order
};

// A kernel as who launches it knows it.
struct Kernel {
  std::string name;
  std::vector<KernelArgument> arguments;
  std::vector<const StmtNode*> asserts;  // of the module; assert i writes i + 1
  std::vector<ImportedKernel> imported;  // a launch takes the first that fits; none: the kernel is the module's own
};

class KernelText : public CBody {
 public:
  // `helpers` are of a KernelDialect and outlive it; `ranges`: what is known of what the host passes. `checked`: the module's.
  KernelText(const FuncNode& f, Helpers* helpers, const KernelDialect& dialect, const Ranges& ranges, bool checked);
  // The kernel's definition. NotImplementedError for what device code cannot do.
  std::string Write(const StmtNode& launch, const std::string& name);
  const std::vector<KernelArgument>& arguments() const { return arguments_; }
  const std::vector<const StmtNode*>& asserts() const { return asserts_; }

 protected:
  void Special(const StmtNode& s) override;
  void Mention(const Var& var) override;
  void Mention(const Buffer& buffer) override;
  void Introduce(const void* node) override { known_.insert(node); }

 private:
  const KernelDialect& kernels_;
  const bool checked_;
  bool waits_ = false;  // it has barriers
  std::vector<const StmtNode*> asserts_;
  std::vector<KernelArgument> arguments_;
  std::unordered_set<const void*> known_;  // defined inside, or an argument already
  std::vector<std::pair<Buffer, std::string>> shared_;  // memory of the block, and its names

  void Assert(const StmtNode& s);
  void Scratch(const Buffer& buffer);
  // The declarations of memory of the block, which stand at the outermost level.
  std::string SharedLines();
  // The extents come from the host; else a refusal.
  void NeedHostExtents(const Buffer& buffer) const;
  void AddParameter(const KernelArgument& argument, std::string* parameters, std::string* bindings);
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_KERNEL_H_
