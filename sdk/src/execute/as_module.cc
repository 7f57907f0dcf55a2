#include <kernpack/error.h>
#include <kernpack/guard.h>
#include <kernpack/module.h>
#include <kernpack/sdk/program/as_module.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <utility>

#include "execute/signature.h"
#include "target/host.h"

namespace kernpack::sdk::program {
namespace {

// A function of a module knows what it runs by its address alone, so each address is another instance of a template.
constexpr size_t kMostFunctions = 1024;
std::array<std::atomic<const Executor*>, kMostFunctions> g_programs;
std::atomic<size_t> g_taken = 0;

template <size_t Number>
int Call(void*, const KpAny* args, int32_t num_args, KpAny*) {
  return kernpack::detail::guarded(Host(), "program", [&] {
    g_programs[Number].load(std::memory_order_acquire)->RunInto(args, num_args, {.wait = false});
  });
}

template <size_t... Numbers>
constexpr std::array<KpSafeCall, sizeof...(Numbers)> Calls(std::index_sequence<Numbers...>) {
  return {&Call<Numbers>...};
}
constexpr std::array<KpSafeCall, kMostFunctions> kCalls = Calls(std::make_index_sequence<kMostFunctions>());

KpSafeCall CallOf(const Executor* program) {
  const size_t number = g_taken.fetch_add(1, std::memory_order_relaxed);
  if (number >= kMostFunctions) {
    KP_THROW(RuntimeError) << "this process has made " << kMostFunctions
                           << " functions of programs, which is as many as it can";
  }
  g_programs[number].store(program, std::memory_order_release);
  return kCalls[number];
}

// What the table points to. It stays where it is.
struct Module {
  std::string name;
  std::vector<std::shared_ptr<const Executor>> programs;
  std::deque<std::string> texts;  // of signatures and targets
  std::vector<KpFunctionInfo> infos;
  std::vector<KpFunctionDef> functions;
  KpModule table{};
};

}  // namespace

const KpModule* AsModule(const std::string& name, std::vector<std::shared_ptr<const Executor>> programs) {
  auto made = std::make_unique<Module>();
  made->name = name;
  made->programs = std::move(programs);
  made->infos.reserve(made->programs.size());
  for (const std::shared_ptr<const Executor>& program : made->programs) {
    const std::string& function = program->program().name;
    const bool taken = std::any_of(made->functions.begin(), made->functions.end(),
                                   [&](const KpFunctionDef& other) { return other.name == function; });
    if (taken) KP_THROW(ValueError) << "module '" << name << "': two programs are named '" << function << "'";
    CheckNames(name, function);
    KpFunctionInfo& info = made->infos.emplace_back(KpFunctionInfo{});
    info.struct_size = sizeof info;
    info.signature = made->texts.emplace_back(program->Signature()).c_str();
    const std::string& target = made->texts.emplace_back(TargetKindOf(program->program()));
    if (!target.empty()) info.target = target.c_str();
    made->functions.push_back({function.c_str(), nullptr, &info});
  }
  for (size_t i = 0; i < made->programs.size(); ++i) made->functions[i].call = CallOf(made->programs[i].get());
  KpModule& table = made->table;
  table.struct_size = sizeof table;
  table.abi_version = KP_ABI_VERSION;
  table.min_host_abi = KP_ABI_OLDEST_HOST;
  table.name = made->name.c_str();
  table.version = "0";
  table.sdk_version = KP_SDK_VERSION;
  table.functions = made->functions.data();
  table.functions_end = made->functions.data() + made->functions.size();
  return &made.release()->table;
}

}  // namespace kernpack::sdk::program
