#include <kernpack/error.h>
#include <kernpack/guard.h>
#include <kernpack/module.h>
#include <kernpack/sdk/program/as_module.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <utility>

#include "execute/module_parts.h"
#include "target/host.h"

namespace kernpack::sdk::program {
namespace {

// One piece of code for all: which program it runs is the function's context.
int Call(void* self, const KpAny* args, int32_t num_args, KpAny*) {
  return kernpack::detail::guarded(Host(), "program", [&] {
    const auto* program = static_cast<const Executable*>(static_cast<const KpFunctionSelf*>(self)->context);
    program->RunInto(args, num_args, {.wait = false});
  });
}

// The targets of the table's pointers. They never move.
struct Module {
  std::string name;
  std::vector<std::shared_ptr<const Executable>> programs;
  std::deque<std::string> texts;  // of signatures and targets
  std::vector<KpFunctionInfo> infos;
  std::vector<KpFunctionDef> functions;
  KpModule table{};
  const Module* older = nullptr;
};

// All that were made: a module's table lives as long as the process.
std::atomic<const Module*> g_newest{nullptr};

}  // namespace

const KpModule* AsModule(const std::string& name, std::vector<std::shared_ptr<const Executable>> programs) {
  auto made = std::make_unique<Module>();
  made->name = name;
  made->programs = std::move(programs);
  made->infos.reserve(made->programs.size());
  for (const std::shared_ptr<const Executable>& program : made->programs) {
    const std::string& function = program->program().name;
    const bool taken = std::any_of(made->functions.begin(), made->functions.end(),
                                   [&](const KpFunctionDef& other) { return other.name == function; });
    if (taken) KP_THROW(ValueError) << "module '" << name << "': two programs are named '" << function << "'";
    CheckNames(name, function);
    KpFunctionInfo& info = made->infos.emplace_back(KpFunctionInfo{});
    info.struct_size = sizeof info;
    info.flags = KP_FUNCTION_TAKES_CONTEXT;
    info.context = const_cast<Executable*>(program.get());
    info.signature = made->texts.emplace_back(program->Signature()).c_str();
    const std::string& target = made->texts.emplace_back(GetTargetKind(program->program()));
    if (!target.empty()) info.target = target.c_str();
    made->functions.push_back({function.c_str(), &Call, &info});
  }
  KpModule& table = made->table;
  table.struct_size = sizeof table;
  table.abi_version = KP_ABI_VERSION;
  table.min_host_abi = KP_ABI_OLDEST_HOST;
  table.name = made->name.c_str();
  table.version = "0";
  table.sdk_version = KP_SDK_VERSION;
  table.functions = made->functions.data();
  table.functions_end = made->functions.data() + made->functions.size();
  Module* kept = made.release();
  kept->older = g_newest.load();
  while (!g_newest.compare_exchange_weak(kept->older, kept)) continue;
  return &kept->table;
}

}  // namespace kernpack::sdk::program
