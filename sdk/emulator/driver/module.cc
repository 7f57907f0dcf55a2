#include "driver/module.h"

#include <cstring>

#include "driver/image.h"
#include "ops/table.h"
#include "ptx/syntax.h"

namespace kernpack::cuda {
namespace {

using emulator::PtxError;
using emulator::Space;
using emulator::Variable;

int Number(const std::string& target) {
  const size_t at = target.find("sm_");
  return at == std::string::npos ? 0 : std::atoi(target.c_str() + at + 3);
}

class Loader {
 public:
  Loader(Context context, const std::string& ptx)
      : context_(context), syntax_(emulator::Parse(ptx)), made_(std::make_unique<ModuleOpaque>()) {
    made_->context = context;
  }
  ~Loader() {
    if (made_ != nullptr) FreeModule(made_.release());
  }
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  Result Load(ModuleHandle* out, std::string* log) {
    const Machine& machine = Machine::Get();
    if (!TakesPtx(static_cast<int>(machine.Setting("driver_version")), syntax_.version)) {
      *log = "the PTX is of version " + std::to_string(syntax_.version / 10) + "." +
             std::to_string(syntax_.version % 10) + ", which the driver's CUDA " +
             std::to_string(machine.Setting("driver_version") / 1000) + "." +
             std::to_string(machine.Setting("driver_version") % 1000 / 10) + " does not know";
      return kUnsupportedPtxVersion;
    }
    const int arch = machine.Arch(context_->device), wanted = Number(syntax_.target);
    if (wanted > arch) {
      *log = "the PTX is for " + syntax_.target + ", and the emulated device is sm_" + std::to_string(arch) +
             "; KERNPACK_EMULATOR=" + syntax_.target + " sets another";
      return kNoBinaryForGpu;
    }
    made_->ptx_arch = wanted;
    if (!Allocate()) return kOutOfMemory;
    Initialise();
    const auto find = [this](const std::string& name, uint64_t* address) {
      const auto found = made_->variables.find(name);
      if (found == made_->variables.end()) return false;
      *address = found->second;
      return true;
    };
    emulator::UseHostLevel(static_cast<int>(machine.Setting("host_level")));
    for (const emulator::Function& function : syntax_.functions) {
      if (!function.entry || !function.defined) continue;
      auto opaque = std::make_unique<FunctionOpaque>();
      opaque->program = std::make_shared<emulator::Program>(emulator::Decode(syntax_, function, find));
      opaque->module = made_.get();
      opaque->dynamic_limit = std::max((48 << 10) - static_cast<int>(opaque->program->shared_bytes), 0);
      if (opaque->program->shared_bytes > 48 << 10) {
        throw PtxError(function.line,
                       "the kernel " + function.name + " has " + std::to_string(opaque->program->shared_bytes) +
                           " bytes of static shared memory, and ptxas takes at most 49152; more has to be dynamic");
      }
      made_->functions[function.name] = std::move(opaque);
    }
    *out = made_.release();
    return kSuccess;
  }

 private:
  Context context_;
  emulator::Module syntax_;
  std::unique_ptr<ModuleOpaque> made_;

  static bool InMemory(const Variable& variable) {
    return variable.space == Space::kGlobal || variable.space == Space::kConst;
  }

  bool Allocate() {
    for (const Variable& variable : syntax_.variables) {
      if (!InMemory(variable)) continue;
      if (variable.is_extern)
        throw PtxError(variable.line,
                       "the variable '" + variable.name + "' is .extern, and modules are not linked here");
      DevicePtr address = 0;
      const BlockKind kind = variable.managed ? BlockKind::kManaged : BlockKind::kModule;
      if (AddBlock(kind, context_->device, std::max<uint64_t>(variable.bytes, 1), true, &address) != kSuccess)
        return false;
      FindBlock(address, 0)->variable = true;
      made_->variables[variable.name] = address;
    }
    return true;
  }

  void Initialise() {
    for (const Variable& variable : syntax_.variables) {
      if (!InMemory(variable)) continue;
      const uint64_t address = made_->variables.at(variable.name);
      Block& block = *FindBlock(address, 0);
      std::memset(block.backing, 0, block.size);
      std::memcpy(block.backing, variable.initial.data(), variable.initial.size());
      for (const Variable::Address& word : variable.addresses) {
        const auto found = made_->variables.find(word.symbol);
        if (found == made_->variables.end())
          throw PtxError(variable.line, "the variable '" + variable.name + "' holds the address of '" + word.symbol +
                                            "', which isn't a variable in memory");
        const uint64_t value = found->second + static_cast<uint64_t>(word.displacement);
        std::memcpy(block.backing + word.at, &value, sizeof value);
      }
      block.region.read_only = variable.space == Space::kConst;
      if (block.region.written != nullptr) emulator::MarkWritten(block.region.written, 0, block.size);
    }
  }
};

}  // namespace

Result LoadModule(Context context, const std::string& ptx, ModuleHandle* out, std::string* log) {
  KeepPtx(ptx);
  try {
    return Loader(context, ptx).Load(out, log);
  } catch (const PtxError& error) {
    *log = std::string("emulator: ") + error.what() + "\n";
    return kInvalidPtx;
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  }
}

void FreeModule(ModuleHandle module) {
  for (const auto& [name, address] : module->variables) RemoveBlock(address);
  delete module;
}

}  // namespace kernpack::cuda
