// Kernels that other compilers made, as a module: the host's half that launches them, with their code inside.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_IMPORTED_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_IMPORTED_H_

#include <kernpack/sdk/codegen/generator.h>

#include "codegen/device/module.h"

namespace kernpack::sdk {

struct ImportedModule {
  ir::IRModule module;  // as DeviceModule takes it
  std::vector<ir::DeviceImage> images;
  // Every launch has kernels for the same targets.
  std::vector<ir::ImportedKernel> kernels;
};

// `target`: of the images' kind; its host is the processor that the host's half is made for. RuntimeError without LLVM; errors of
// Verify(); ValueError for an image that doesn't exist, and of CheckDeviceFunctions().
Generated BuildImported(const ImportedModule& imported, const Target& target);
void ExportImported(const ImportedModule& imported, const Target& target, const std::string& path);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_DEVICE_IMPORTED_H_
