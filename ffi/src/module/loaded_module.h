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

namespace kernpack::host {

// One implementation of a function.
struct Variant {
  KpSafeCall call;
  void* self;
  const char* target;  // NULL: the baseline
  const char* path;    // of the file it came from
  uint32_t next;       // variant of the same function, or NameIndex::kNone
};

// What a function is apart from its code; the same for all its variants.
struct Description {
  const char* signature;    // NULL: untyped
  const uint32_t* program;  // nullable: the text compiled by the module's compiler
  uint32_t program_words;
  const char* doc;
  const char* cxx_types;
};

struct Function : KpLoadedFunction {
  Description description;
  uint32_t first_variant;
  bool any_device;          // looks after its device itself (functions of the peer's modules)
  std::atomic<bool> ready;  // the public fields other than name, module_name and module are filled
};

// One file's part in a module: its table and the instance made of it.
struct Part {
  const KpModule* table;
  KpInstance* instance;
  const char* path;  // immortal
};

}  // namespace kernpack::host

// Immortal. Immutable once published, but for what ModulesMutex() guards: the mutable members and functions not yet ready.
struct KpLoadedModule {
  std::string name;
  std::string version;
  std::string sdk_version;
  std::string path;
  std::string digest;
  int cpu_level = 0;

  std::unique_ptr<kernpack::host::Function[]> functions;
  uint32_t function_count = 0;
  kernpack::host::NameIndex index;
  std::vector<kernpack::host::Variant> variants;
  std::vector<std::pair<const char*, const char*>> gradients;  // forward, backward
  std::deque<std::string> strings;  // what a peer module's functions point to

  mutable std::vector<uint32_t> by_name;  // function numbers in name order; empty until asked for
  mutable std::map<std::pair<const kernpack::host::Function*, std::pair<int32_t, int32_t>>, uint32_t> chosen;
};

namespace kernpack::host {

// One for all modules: it is held for a moment only, and fork() has to know it.
ForkMutex& ModulesMutex();

// Makes one module of the parts (at least one, checked tables). Returns 0, or -1 raised.
int BuildModule(const std::vector<Part>& parts, KpLoadedModule* out);

// The function, its public fields filled; NULL with an error raised when its contract does not compile.
const Function* Ready(const KpLoadedModule* module, uint32_t number);

// The number of the variant to run on the device, or kNone. `device` of type KP_DEVICE_CPU has id 0.
uint32_t ChooseVariant(const KpLoadedModule& module, const Function& function, KpDLDevice device);

// Why variant `number` can or cannot run on the device; rank as TargetMatch, 0 for a baseline that can.
struct Suitability {
  int rank;
  std::string reason;
};
Suitability Suits(const KpLoadedModule& module, const Function& function, const Variant& variant, KpDLDevice device);

inline const Function* Internal(const KpLoadedFunction* function) { return static_cast<const Function*>(function); }

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_MODULE_LOADED_MODULE_H_
