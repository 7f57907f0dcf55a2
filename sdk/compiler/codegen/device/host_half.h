// A generator for devices: what is the kind's own, and who makes the host's half.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_HOST_HALF_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_HOST_HALF_H_

#include <kernpack/sdk/codegen/generator.h>

#include "codegen/device/module.h"

namespace kernpack::sdk {
namespace ir {

// A module whose code is made. At least one function is not private.
struct CompiledDevice {
  const char* kind;
  int32_t device_type;
  const DeviceModule& module;
  std::vector<DeviceImage> images;
  // Of a function by name, an image of each target that it has a variant for. Without a row: all images.
  std::unordered_map<std::string, std::vector<size_t>> variants = {};

  std::vector<size_t> GetVariants(const FuncNode& f) const;
};

}  // namespace ir

// Makes the functions that hosts call, which launch the code that is in the module with them. The processor is that of the
// target's host.
struct HostHalf {
  Generated (*build)(const ir::CompiledDevice& code, const Target& target);
  void (*export_library)(const ir::CompiledDevice& code, const Target& target, const std::string& path);
};

struct DeviceKind {
  const char* name;
  const ir::KernelDialect& (*dialect)(const Target& target);
  // The program, compiled where this machine does it.
  std::vector<ir::DeviceImage> (*images)(const ir::DeviceModule& module, const Target& target);
};

// ValueError where no host calls a function of the module, or where one has no tensor, which determines the device.
void CheckDeviceFunctions(const ir::IRModule& module);

// Registers target.build, target.export and target.source of the kind. `kind` and `host` have static storage.
void RegisterDeviceGenerator(const DeviceKind& kind, const HostHalf& host);

// The host's half as C that is linked with the frame: for an SDK without LLVM.
// Needs a C compiler where it runs.
const HostHalf& CHost();

// The host's half by LLVM: no compiler is run.
const HostHalf& LlvmHost();

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_HOST_HALF_H_
