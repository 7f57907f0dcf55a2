// A loaded module: what KpLoadedModule and KpLoadedFunction stand for.
#ifndef KERNPACK_SRC_MODULE_LOADED_MODULE_H_
#define KERNPACK_SRC_MODULE_LOADED_MODULE_H_

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kernpack/host/host.h>

#include "base/fork.h"
#include "loader/library.h"
#include "module/name_index.h"
#include "target/target_match.h"

namespace kernpack::host {

inline constexpr KpFunctionInfo kPlainFunction{
    sizeof(KpFunctionInfo), KP_DEF_FUNCTION, nullptr, nullptr, nullptr, 0, 0, nullptr, nullptr, nullptr, nullptr,
    {nullptr, nullptr}};
inline const KpFunctionInfo& InfoOf(const KpFunctionDef& definition) {
  return definition.info ? *definition.info : kPlainFunction;
}

// One implementation of a function.
struct Variant {
  const KpFunctionDef* definition;
  const KpFunctionInfo& info() const { return InfoOf(*definition); }
  void* self;
  const char* path;  // of the file it came from
  uint32_t abi;      // that file was built for
  uint32_t next;     // variant of the same function, or NameIndex::kNone
};

struct Function : KpLoadedFunction {
  uint32_t first_variant;
};

// One file's part in a module: its table and the instance made of it.
struct Part {
  const KpModule* table;
  KpInstance* instance;
  const char* path;  // immortal
};

}  // namespace kernpack::host

// Immortal. Immutable once published, but for the mutable members, which ModulesMutex() guards. A function is a number, and
// costs a few words, until somebody asks for it: a generated module may have thousands.
struct KpLoadedModule {
  std::string name;
  std::string version;
  std::string sdk_version;
  std::string path;
  std::string digest;
  kernpack::host::CpuSpec cpu;  // what its variants were chosen for

  std::vector<uint32_t> first_variants;  // of each function
  kernpack::host::NameIndex index;  // of the functions
  std::vector<kernpack::host::Variant> variants;
  std::vector<std::pair<const char*, const char*>> gradients;  // forward, backward
  std::vector<std::pair<const char*, const char*>> jvps;  // forward, the op that computes its tangents
  bool any_device = false;  // its functions look after their device themselves (modules built with the peer's SDK)
  std::deque<KpFunctionDef> definitions;  // those, and what they point to, of a module that has no table
  std::deque<KpFunctionInfo> infos;
  std::deque<std::string> strings;
  std::deque<KpFunctionSelf> selves;  // of functions that take a context; never moves

  const char* NameOf(uint32_t number) const { return variants[first_variants[number]].definition->name; }

  mutable std::unique_ptr<std::atomic<const kernpack::host::Function*>[]> made;  // one a function; NULL until asked for
  mutable std::vector<uint32_t> by_name;  // function numbers in name order; empty until asked for
  mutable std::map<std::pair<const kernpack::host::Function*, std::pair<int32_t, int32_t>>, uint32_t> chosen;
};

namespace kernpack::host {

// One for all modules: it is held for a moment only, and fork() has to know it.
ForkMutex& ModulesMutex();

// Makes one module of the parts (at least one, checked tables). Returns 0, or -1 raised.
int BuildModule(const std::vector<Part>& parts, KpLoadedModule* out);

// Adds a variant to a module under construction (its index has room). A new function of its own: returns kNone; else the
// number of the function that has its name already, to which the caller chains it.
uint32_t AddFunction(KpLoadedModule* module, const Variant& variant);
// The last step of construction.
void FinishFunctions(KpLoadedModule* module);

// The number of the function of that name, or kNone.
uint32_t FindFunction(const KpLoadedModule& module, std::string_view name);

// The function of that number; NULL with an error raised when its contract does not compile.
const Function* GetFunction(const KpLoadedModule* module, uint32_t number);

// The number of the variant to run on the device, or kNone. `device` of type KP_DEVICE_CPU has id 0; of any other, hold no
// lock.
uint32_t ChooseVariant(const KpLoadedModule& module, const Function& function, KpDLDevice device);

// Why a variant can or cannot run on the device; rank 0 for a baseline that can. Asks the device's backend: hold no lock.
TargetMatch Suits(const KpLoadedModule& module, const Function& function, const Variant& variant, KpDLDevice device);

inline const Function* Internal(const KpLoadedFunction* function) { return static_cast<const Function*>(function); }

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_MODULE_LOADED_MODULE_H_
