// The device's half of a module: its program, and what each launch hands to it.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_MODULE_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_MODULE_H_

#include <unordered_map>

#include "codegen/device/kernel.h"

namespace kernpack::sdk::ir {

// The device's code, compiled or to be compiled by the driver.
struct DeviceImage {
  std::string target;  // that runs it: "opencl", "cuda -arch=sm_90"
  std::string format;  // "cl", "cubin", "ptx"
  std::string data;

  // Of the data: DeviceCodeDigest().
  uint64_t digest() const;
  // The digest as text: what loaded code is kept under.
  std::string name() const;
};

class DeviceModule {
 public:
  // Runs Lower(). Errors: what it finds; NotImplementedError for what device code cannot do.
  // `width`: threads of a block of a parallel loop.
  DeviceModule(const IRModule& module, const KernelDialect& dialect, int64_t width);

  // Launches of imported kernels: the body of each is a call of a private function that stands for the kernel, with the kernel's
  // parameters in order and no statements. Runs Lower().
  DeviceModule(const IRModule& module, const std::vector<ImportedKernel>& kernels);

  // The host's module: lowered; all accesses to memory are in launches.
  const IRModule& module() const { return module_; }
  // The device's program, in the dialect's language; of imported kernels a line for each.
  const std::string& program() const { return program_; }
  // True if a kernel of the module has asserts.
  bool has_asserts() const;
  // The kernel of a launch in module().
  const Kernel& GetKernel(const StmtNode& launch) const { return kernels_.at(&launch); }

 private:
  IRModule module_;
  std::unordered_map<const StmtNode*, Kernel> kernels_;
  std::string program_;
};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_MODULE_H_
