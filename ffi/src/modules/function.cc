// Finding a function in its module's tables, and making it.
#include <cstring>
#include <memory>
#include <mutex>

#include "base/leaked.h"
#include "modules/check.h"
#include "modules/function_index.h"
#include "values/signature/signature.h"

namespace kernpack::host {
namespace {

// An index of all names costs about as much as this many searches; below so many functions it never pays.
constexpr uint32_t kSearches = 8;
constexpr size_t kFew = 32;

size_t CountEntries(const KpLoadedModule& module) {
  size_t count = 0;
  for (const Part& part : module.parts) count += part.functions.size();
  return count;
}

bool IsNamed(const KpFunctionDef& definition, std::string_view name) {
  // Nearly all differ in the first letters: no call for those.
  const char* own = definition.name;
  if (own == nullptr) return false;
  for (const char c : name) {
    if (*own++ != c) return false;
  }
  return *own == 0;
}

// As FunctionIndex::Find, of tables that nobody has read. 0, or -1 with an error raised when one of the entries is damaged.
int SearchTables(const KpLoadedModule& module, std::string_view name, std::vector<Entry>* out) {
  if (name.find('\0') != std::string_view::npos) return 0;
  for (const Part& part : module.parts) {
    const auto add = [&](const KpFunctionDef* definition) {
      const Entry entry{&part, definition};
      if (definition == nullptr || CheckEntry(entry) != 0) return -1;
      if (entry.info().kind == KP_DEF_FUNCTION) out->push_back(entry);
      return 0;
    };
    if (part.unrelocated) {
      const auto [begin, end] = part.unrelocated->Find(name);
      for (size_t line = begin; line < end; ++line) {
        if (add(part.unrelocated->Read(line)) != 0) return -1;
      }
      continue;
    }
    for (const KpFunctionDef& definition : part.functions) {
      if (IsNamed(definition, name) && add(&definition) != 0) return -1;
    }
  }
  return CheckVariants(*out);
}

// The implementations of the function of that name; none where there is no such function. 0, or -1 with an error raised.
int FindEntries(const KpLoadedModule& module, std::string_view name, std::vector<Entry>* out) {
  const FunctionIndex* index = module.index.load(std::memory_order_acquire);
  if (index == nullptr) {
    if (CountEntries(module) <= kFew || module.searches.fetch_add(1, std::memory_order_relaxed) < kSearches) {
      return SearchTables(module, name, out);
    }
    if ((index = GetIndex(module)) == nullptr) return -1;
  }
  *out = index->Find(name);
  return 0;
}

// The text of the first variant that has one.
const char* Said(const std::vector<Variant>& variants, const char* KpFunctionInfo::* what) {
  for (const Variant& variant : variants) {
    if (const char* text = variant.info().*what) return text;
  }
  return nullptr;
}

Variant MakeVariant(const Entry& entry) {
  const KpFunctionInfo& info = entry.info();
  if (entry.part->table == nullptr) return {entry, nullptr, info.context};
  if ((info.flags & KP_FUNCTION_TAKES_CONTEXT) == 0) return {entry, nullptr, entry.part->instance};
  auto self = std::make_unique<KpFunctionSelf>(
      KpFunctionSelf{sizeof(KpFunctionSelf), 0, kp_host(), entry.part->instance, info.context});
  void* address = self.get();
  return {entry, std::move(self), address};
}

std::unique_ptr<const Function> Make(const KpLoadedModule& module, const std::vector<Entry>& entries) {
  const KpFunctionDef& definition = *entries[0].definition;
  const KpFunctionInfo& info = entries[0].info();
  auto function = std::make_unique<Function>();
  function->name = definition.name;
  function->module_name = module.name.c_str();
  function->module = &module;
  function->variants.reserve(entries.size());
  for (const Entry& entry : entries) function->variants.push_back(MakeVariant(entry));
  if (info.signature) {
    if (ParseContract(info, definition.name, entries[0].part->abi(), &function->signature) != 0) return nullptr;
    function->program = kp_signature_program(function->signature);
  }
  function->doc = Said(function->variants, &KpFunctionInfo::doc);
  function->cxx_types = info.cxx_types;
  function->attributes = Said(function->variants, &KpFunctionInfo::attributes);
  if (CheckAttributes(function->attributes, definition.name) != 0) return nullptr;
  const KpDLDevice cpu{KP_DEVICE_CPU, 0};
  const uint32_t chosen = ChooseVariant(module, *function, cpu);
  if (chosen != kNoVariant) {
    function->cpu_call = function->variants[chosen].definition->call;
    function->cpu_self = function->variants[chosen].self;
  }
  return function;
}

}  // namespace

ForkMutex& ModulesMutex() {
  struct Holder {
    ForkMutex mutex{LockRank::kModules};
  };
  return Leaked<Holder>().mutex;
}

const Function* FindFunction(const KpLoadedModule& module, std::string_view name) {
  const auto find_made = [&]() -> const Function* {
    const auto found = module.made.find(name);
    return found == module.made.end() ? nullptr : found->second.get();
  };
  {
    const std::lock_guard lock(ModulesMutex());
    if (const Function* function = find_made()) return function;
  }
  std::vector<Entry> entries;
  if (FindEntries(module, name, &entries) != 0 || entries.empty()) return nullptr;
  const std::lock_guard lock(ModulesMutex());
  if (const Function* function = find_made()) return function;
  std::unique_ptr<const Function> made = Make(module, entries);
  if (!made) return nullptr;
  const std::string_view own_name = made->name;  // as immortal as the module
  return module.made.emplace(own_name, std::move(made)).first->second.get();
}

const FunctionIndex* GetIndex(const KpLoadedModule& module) {
  const FunctionIndex* index = module.index.load(std::memory_order_acquire);
  if (index != nullptr) return index;
  std::unique_ptr<const FunctionIndex> made = FunctionIndex::Make(module.parts);
  // Another thread may have been quicker: its index is the same.
  if (!made || !module.index.compare_exchange_strong(index, made.get(), std::memory_order_acq_rel)) return index;
  return made.release();
}

}  // namespace kernpack::host
