// A loaded module: what KpLoadedModule and KpLoadedFunction stand for.
#ifndef KERNPACK_SRC_MODULES_LOADED_MODULE_H_
#define KERNPACK_SRC_MODULES_LOADED_MODULE_H_

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <kernpack/host/host.h>

#include "base/fork.h"
#include "modules/library.h"
#include "modules/unrelocated.h"
#include "devices/target/match_device.h"

namespace kernpack::host {

inline constexpr KpFunctionInfo kPlainFunction{
    sizeof(KpFunctionInfo), KP_DEF_FUNCTION, nullptr, nullptr, nullptr, 0, 0, nullptr, nullptr, nullptr, nullptr,
    {nullptr, nullptr}};
inline const KpFunctionInfo& GetInfo(const KpFunctionDef& definition) {
  return definition.info ? *definition.info : kPlainFunction;
}

// One file's part in a module: its functions and the instance made of it.
struct Part {
  const KpModule* table;  // NULL: built with the peer's SDK; the context of a function is then what it is called with
  KpInstance* instance;
  const char* path;  // immortal
  std::span<const KpFunctionDef> functions;  // not to be read where `unrelocated`
  std::shared_ptr<const UnrelocatedTable> unrelocated = nullptr;

  uint32_t abi() const { return table ? table->abi_version : KP_ABI_VERSION; }
};

// One line of a part's table.
struct Entry {
  const Part* part;
  const KpFunctionDef* definition;
  const KpFunctionInfo& info() const { return GetInfo(*definition); }
};

// One implementation of a function that was asked for.
struct Variant : Entry {
  std::unique_ptr<const KpFunctionSelf> with_context;  // of one that takes a context
  void* self;
};

struct Function : KpLoadedFunction {
  std::vector<Variant> variants;
  // The number of the variant for a device; guarded by ModulesMutex().
  mutable std::map<std::pair<int32_t, int32_t>, uint32_t> chosen;
  mutable std::atomic<const void*> last_profiled{nullptr};  // profile::Entry: found without a lock
};

inline constexpr uint32_t kNoVariant = UINT32_MAX;

class FunctionIndex;

// A table for a module that has none.
struct MadeTable {
  std::vector<KpFunctionDef> functions;
  std::deque<KpFunctionInfo> infos;
  std::deque<std::string> strings;
};

}  // namespace kernpack::host

// Immortal. Immutable once published, but for the mutable members. A function is a line of a table, which nobody has read, until
// somebody asks for it: a generated module may have thousands.
struct KpLoadedModule {
  std::string name;
  std::string version;
  std::string sdk_version;
  std::string path;
  std::string digest;
  kernpack::host::CpuSpec cpu;  // what its variants were chosen for
  bool any_device =
      false;  // its functions without a contract look after their device themselves (modules built with the peer's SDK)

  std::vector<kernpack::host::Part> parts;
  std::unique_ptr<kernpack::host::MadeTable> made_table;

  // The functions that were asked for, by name; guarded by ModulesMutex().
  mutable std::unordered_map<std::string_view, std::unique_ptr<const kernpack::host::Function>> made;
  mutable std::atomic<uint32_t> searches{0};  // of the tables, while there is no index
  mutable std::atomic<const kernpack::host::FunctionIndex*> index{nullptr};  // never freed
};

namespace kernpack::host {

// One for all modules: it is held for a moment only, and fork() has to know it.
ForkMutex& ModulesMutex();

// Makes one module of its parts (at least one, checked tables). `known`: this host took the same parts for a module before, so that
// it isn't all read again. Returns 0, or -1 raised.
int BuildModule(std::vector<Part> parts, bool known, KpLoadedModule* out);

// The function of that name, made when it is first asked for. NULL with no error raised: there is none; NULL with one: its contract
// doesn't compile, or the table is damaged.
const Function* FindFunction(const KpLoadedModule& module, std::string_view name);

// All functions of the module, checked. NULL with an error raised when something is wrong with its tables.
const FunctionIndex* GetIndex(const KpLoadedModule& module);

// The number of the variant to run on the device, or kNoVariant. `device` of type KP_DEVICE_CPU has id 0; of any other, hold no
// lock.
uint32_t ChooseVariant(const KpLoadedModule& module, const Function& function, KpDLDevice device);

// Why the variant runs on the device, or doesn't where `chosen` does: a reason of one that can run names the chosen one. Hold no lock.
std::string Reason(const KpLoadedModule& module, const Function& function, uint32_t variant, KpDLDevice device,
                   uint32_t chosen);

// "70 functions run llvm -mcpu=x86-64-v3; 1 function runs the baseline", with the variants that don't run on the device and why. Makes
// all functions of the module: for the log.
std::string DescribeChoices(const KpLoadedModule& module, KpDLDevice device);

// A line of KERNPACK_LOG=debug.
void LogChoice(const KpLoadedModule& module, const Function& function, KpDLDevice device, uint32_t chosen);

// Why a variant can or cannot run on the device; rank 0 for a baseline that can. Asks the device's backend: hold no lock.
TargetMatch Suits(const KpLoadedModule& module, const Function& function, const Variant& variant, KpDLDevice device);

inline const Function* Internal(const KpLoadedFunction* function) { return static_cast<const Function*>(function); }

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_MODULES_LOADED_MODULE_H_
