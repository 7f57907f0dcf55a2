#include "codegen/opencl/register.h"

#include <kernpack/sdk/codegen/generator.h>

#include "codegen/device/module.h"
#include "codegen/opencl/dialect.h"
#include "codegen/compile_source.h"

namespace kernpack::sdk {
namespace {

// The program stays source: the driver of whatever device compiles it.
ir::DeviceModule OpenClModule(const ir::IRModule& module, const Target& target) {
  return {module, ir::OpenClC(Contracts(target))};
}

SourceFile OpenClSource(const ir::IRModule& module, const Target& target) {
  ir::DeviceModule made = OpenClModule(module, target);
  return {"opencl", SourceFile::kCxx17, made.HostSource({{"opencl", "cl", made.program()}})};
}

}  // namespace

void RegisterOpenCl() {
  RegisterGenerator("opencl", {[](const ir::IRModule& module, const Target& target) {
                                 return Generated{LoadSource(OpenClSource(module, target), target, module.name), {}};
                               },
                               [](const ir::IRModule& module, const Target& target, const std::string& path) {
                                 ExportSource(OpenClSource(module, target), target, path);
                               },
                               [](const ir::IRModule& module, const Target& target) {
                                 return OpenClModule(module, target).program();
                               }});
}

}  // namespace kernpack::sdk
