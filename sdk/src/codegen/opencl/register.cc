#include "codegen/opencl/register.h"

#include <kernpack/sdk/codegen/generator.h>

#include "codegen/device/module.h"
#include "codegen/opencl/dialect.h"
#include "codegen/compile_source.h"

namespace kernpack::sdk {
namespace {

// The program stays source: the driver of whatever device compiles it.
ir::DeviceModule Make(const ir::IRModule& module, const Target& target) {
  return {module, ir::OpenClC(Contracts(target))};
}

SourceFile HostSource(const ir::IRModule& module, const Target& target) {
  ir::DeviceModule made = Make(module, target);
  return {"opencl", SourceFile::kCxx17, made.HostSource({{"opencl", "cl", made.program()}})};
}

}  // namespace

void RegisterOpenCl() {
  RegisterGenerator("opencl",
                    {[](const ir::IRModule& module, const Target& target) {
                       return Generated{LoadSource(HostSource(module, target), target, module.name), {}};
                     },
                     [](const ir::IRModule& module, const Target& target, const std::string& path) {
                       ExportSource(HostSource(module, target), target, path);
                     },
                     [](const ir::IRModule& module, const Target& target) { return Make(module, target).program(); }});
}

}  // namespace kernpack::sdk
