#include "codegen/opencl/register.h"

#include <kernpack/sdk/codegen/generator.h>

#include "codegen/device/module.h"
#include "codegen/opencl/dialect.h"
#include "codegen/compile_source.h"

namespace kernpack::sdk {
namespace {

// The program stays source: the driver of whatever device compiles it.
SourceFile HostSource(const ir::IRModule& module) {
  ir::DeviceModule made(module, ir::OpenClC());
  return {"opencl", SourceFile::kCxx17, made.HostSource({{"opencl", "cl", made.program()}})};
}

}  // namespace

void RegisterOpenCl() {
  RegisterGenerator("opencl", {[](const ir::IRModule& module, const Target& target) {
                                 return Generated{LoadSource(HostSource(module), target, module.name), {}};
                               },
                               [](const ir::IRModule& module, const Target& target, const std::string& path) {
                                 ExportSource(HostSource(module), target, path);
                               },
                               [](const ir::IRModule& module, const Target&) {
                                 return ir::DeviceModule(module, ir::OpenClC()).program();
                               }});
}

}  // namespace kernpack::sdk
