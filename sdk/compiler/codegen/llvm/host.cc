#include "codegen/device/host_half.h"

#include <kernpack/sdk/ir/text.h>

#include "codegen/llvm/build.h"
#include "codegen/llvm/export.h"
#include "codegen/llvm/types.h"

namespace kernpack::sdk {
namespace {

// The target of the host's half: the target's host, else this machine.
Target GetHost(const Target& target) { return target.host().value_or(Target("llvm")); }

// The baseline: launching needs no more.
ir::ModuleOptions OptionsFor(const ir::CompiledDevice& code, const ir::Level& level, const Target& host) {
  return {.levels = {level}, .floats = ir::GetFastMathFlags(host), .device = &code};
}

Generated Build(const ir::CompiledDevice& code, const Target& target) {
  const Target host = GetHost(target);
  const ir::LlvmMachine machine(host);
  return ir::BuildInProcess(code.module.module(), machine, OptionsFor(code, machine.OwnLevel(), host), target);
}

void Export(const ir::CompiledDevice& code, const Target& target, const std::string& path) {
  const Target host = GetHost(target);
  const ir::LlvmMachine machine(host);
  std::string hashed = ir::Print(code.module.module()) + target.str() + code.module.program();
  for (const ir::DeviceImage& image : code.images) hashed += image.target + image.data;
  ir::ExportMade(code.module.module(), machine, OptionsFor(code, machine.ExportLevels().front(), host), hashed, path);
}

}  // namespace

const HostHalf& LlvmHost() {
  static const HostHalf host{Build, Export};
  return host;
}

}  // namespace kernpack::sdk
