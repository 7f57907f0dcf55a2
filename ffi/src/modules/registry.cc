#include "modules/registry.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <new>
#include <unordered_map>
#include <unordered_set>

#include "base/guard.h"
#include "base/intern.h"
#include "base/leaked.h"
#include "base/log.h"
#include "base/loader/digest.h"
#include "base/loader/float_environment.h"
#include "base/loader/platform.h"
#include "modules/check.h"
#include "values/guests.h"
#include "devices/storage/table.h"
#include "devices/target/cpu_machine.h"

namespace kernpack::host {
namespace {

// Which modules share the values that they store: the files of one name and version that one distribution brought, or that one
// load merged.
class KeyOwners {
 public:
  struct Renamed {
    const char* name;
    std::string owner;
  };

  // Those of its modules whose values belong to another name.
  std::vector<Renamed> Add(const std::vector<Part>& parts, const std::string& distribution, const std::string& digest) {
    const KpModule& table = *parts[0].table;
    const std::string of_distribution = std::string(table.name) + '\n' + table.version + '\n' + distribution;
    const std::string* owner = nullptr;
    for (const Part& part : parts) {
      if (const auto found = by_table_.find(part.table); found != by_table_.end()) owner = &found->second;
    }
    if (const auto found = by_distribution_.find(of_distribution); !owner && found != by_distribution_.end()) {
      owner = &found->second;
    }
    // The first of a name keeps it, so that Python reads its values under it.
    const std::string mine = owner                              ? *owner
                             : names_.insert(table.name).second ? table.name
                                                                : std::string(table.name) + '@' + digest;
    if (!distribution.empty()) by_distribution_.emplace(of_distribution, mine);
    std::vector<Renamed> renamed;
    for (const Part& part : parts) {
      if (by_table_.emplace(part.table, mine).second && mine != part.table->name) {
        renamed.push_back({part.table->name, mine});
      }
    }
    return renamed;
  }

 private:
  std::unordered_map<const KpModule*, std::string> by_table_;
  std::unordered_map<std::string, std::string> by_distribution_;
  std::unordered_set<std::string> names_;
};

struct Registry {
  // Held through a whole load: one at a time in a process. Recursive, because start-up code may load other modules. No
  // ForkMutex: that code may fork. So it guards no data: a child gets what another thread's load has done so far.
  std::recursive_mutex loading;

  ForkMutex mutex{LockRank::kModules};  // guards what follows; never held while a module's code runs
  std::unordered_map<std::string, std::unique_ptr<KpLoadedModule>> by_digest;
  std::unordered_map<const KpModule*, KpInstance*> instances;
  KeyOwners owners;

  // A load that another thread had begun is lost in a forked child, and must not hold up the child's own.
  Registry() {
    OnForkedChild([] { new (&Leaked<Registry>().loading) std::recursive_mutex; });
  }

  const KpLoadedModule* Find(const std::string& digest) {
    const std::lock_guard lock(mutex);
    const auto found = by_digest.find(digest);
    return found == by_digest.end() ? nullptr : found->second.get();
  }
  // How many loaded modules of that name have this major version; *out is the last of them.
  int CountMajor(std::string_view name, std::string_view major, const KpLoadedModule** out) {
    const std::lock_guard lock(mutex);
    int count = 0;
    for (const auto& [digest, module] : by_digest) {
      const std::string_view version = module->version;
      if (module->name != name || version.substr(0, version.find('.')) != major) continue;
      *out = module.get();
      ++count;
    }
    return count;
  }
  bool FindInstance(const KpModule* table, KpInstance** out) {
    const std::lock_guard lock(mutex);
    const auto found = instances.find(table);
    if (found != instances.end()) *out = found->second;
    return found != instances.end();
  }
  void AddInstance(const KpModule* table, KpInstance* instance) {
    const std::lock_guard lock(mutex);
    instances.emplace(table, instance);
  }
  void AddOwner(const KpLoadedModule& module, const std::string& distribution) {
    std::vector<KeyOwners::Renamed> renamed;
    {
      const std::lock_guard lock(mutex);
      renamed = owners.Add(module.parts, distribution, module.digest);
    }
    for (const auto& [name, owner] : renamed) KeepKeysUnder(name, owner);
  }
  const KpLoadedModule* Publish(std::unique_ptr<KpLoadedModule> module) {
    const std::lock_guard lock(mutex);
    return by_digest.emplace(module->digest, std::move(module)).first->second.get();
  }
};

uint64_t Microseconds() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

// Raises this thread's error again with `where` in front of its message.
int RaiseWithContext(const char* where) {
  KpAny error = kp_none();
  kp_error_take("KpModule.create", -1, &error);
  const auto* body = reinterpret_cast<const KpErrorObject*>(error.v.v_obj);
  kp_raise(body->kind.data, "kernpack.load: initialising '%s' failed: %s", where, body->message.data);
  kp_any_release(&error);
  return -1;
}

// This host's instance of the module; made once.
int Instantiate(const KpModule* table, const char* where, KpInstance** out) {
  auto& registry = Leaked<Registry>();
  if (registry.FindInstance(table, out)) return 0;
  KpInstance* instance = nullptr;
  if (table->create) {
    const KeepFloatEnvironment keep;
    kp_error_clear();
    if (Guard("KP_MODULE_INIT", [&] { return table->create(kp_host(), &instance); }) != 0)
      return RaiseWithContext(where);
  }
  registry.AddInstance(table, instance);
  *out = instance;
  return 0;
}

// `handle`: of the library that has the table; NULL for one of the program itself.
int MakePart(const KpModule* table, const char* path, void* handle, Part* out) {
  if (CheckModule(table, path) != 0) return -1;
  *out = Part{table, nullptr, path, {table->functions, table->functions_end}};
  if (LinkedAt(*table) && !(out->unrelocated = UnrelocatedTable::Make(*table, handle, path))) return -1;
  return Instantiate(table, path, &out->instance);
}

int Make(std::vector<Part> parts, bool known, const std::string& distribution, KpLoadedModule* out) {
  if (BuildModule(std::move(parts), known, out) != 0) return -1;
  Leaked<Registry>().AddOwner(*out, distribution);
  return 0;
}

// A file, and the path that the caller asked for: a library may have been opened before, under another name.
struct AskedFile : LoadedFile {
  const char* path;  // immortal
};

int MakeOwnModule(const std::vector<AskedFile>& files, KpLoadedModule* out) {
  std::vector<Part> parts(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    const Library& library = *files[i].library;
    if (!library.symbols.has_query) {
      return kp_raise("ValueError", "kernpack.load: '%s' was built with apache-tvm-ffi; load it by itself",
                      files[i].path);
    }
    const auto query = reinterpret_cast<KpModuleQuery>(platform::LibrarySymbol(library.handle, KP_MODULE_QUERY_SYMBOL));
    if (!query) {
      return kp_raise("ImportError",
                      "kernpack.load: '%s' has " KP_MODULE_QUERY_SYMBOL
                      " but doesn't export it; give it default visibility",
                      files[i].path);
    }
    const KeepFloatEnvironment keep;
    if (MakePart(query(), files[i].path, library.handle, &parts[i]) != 0) return -1;
  }
  return Make(std::move(parts), files.size() == 1 && files[0].known, files[0].library->verified, out);
}

// With contracts a file is another module than without.
std::string DigestOfAll(const std::vector<AskedFile>& files, std::string_view contracts) {
  if (!contracts.empty()) return Digest(files[0].library->digest + '\n' + std::string(contracts));
  if (files.size() == 1) return files[0].library->digest;
  std::string all;
  for (const AskedFile& file : files) all += file.library->digest;
  return Digest(all);
}

std::string Described(const KpLoadedModule& module) {
  std::string text = "module " + module.name + " " + module.version + ", ";
  text +=
      module.sdk_version == "apache-tvm-ffi" ? "built with apache-tvm-ffi" : "of kernpack-sdk " + module.sdk_version;
  return text + ", SHA-256 " + module.digest.substr(0, 12);
}

// Of kernpack.load with KERNPACK_LOG=debug, one line: which files, the module, whether each file was compared with RECORD, how long it
// took, and the code that its functions run on the CPU.
void LogLoad(const std::vector<AskedFile>& files, const KpLoadedModule& module, bool is_new, uint64_t began) {
  if (!Logs(KP_LOG_DEBUG)) return;
  const uint64_t took = Microseconds() - began;
  std::string paths, compared;
  for (const AskedFile& file : files) {
    const std::string& verified = file.library->verified;
    const std::string how = (verified.empty() ? "no RECORD to compare it with" : "as " + verified + " installed it") +
                            (file.in_place ? ", mapped in place" : "");
    paths.append(paths.empty() ? "'" : ", '").append(file.path).append("'");
    if (!compared.ends_with(how)) compared.append(", ").append(how);
  }
  std::string line = "load " + paths + ": " + Described(module) + compared +
                     (is_new ? "" : ", which this process has loaded before") + " (" + std::to_string(took) + " us)";
  if (is_new) line += "; on the CPU " + DescribeChoices(module, {KP_DEVICE_CPU, 0});
  Log(KP_LOG_DEBUG, line);
}

int MakeModule(const std::vector<AskedFile>& files, std::string_view contracts, const std::string& digest,
               const KpLoadedModule** out) {
  auto module = std::make_unique<KpLoadedModule>();
  module->digest = digest;
  if (MachineCpu(&module->cpu) != 0) return -1;
  const bool peer = files.size() == 1 && !files[0].library->symbols.has_query;
  if (!peer && !contracts.empty()) {
    return kp_raise(
        "ValueError",
        "kernpack.load: contracts: expected a file that was built with apache-tvm-ffi, got '%s', a Kernpack "
        "module: its functions have contracts already, so leave the option out",
        files[0].path);
  }
  if ((peer ? kGuests.build_module(*files[0].library, contracts, module.get()) : MakeOwnModule(files, module.get())) !=
      0) {
    return -1;
  }
  *out = Leaked<Registry>().Publish(std::move(module));
  return 0;
}

int Load(const char* const* paths, int32_t count, uint32_t flags, std::string_view contracts,
         const KpLoadedModule** out) {
  if (!paths || count < 1) return kp_raise("ValueError", "kernpack.load: expected at least one path, got %d", count);
  Registry& registry = Leaked<Registry>();
  const std::lock_guard lock(registry.loading);
  const uint64_t began = Microseconds();
  std::vector<AskedFile> files;
  for (int32_t i = 0; i < count; ++i) {
    if (!paths[i] || !*paths[i]) return kp_raise("ValueError", "kernpack.load: path %d is empty", i);
    AskedFile file{};
    if (LoadLibraryFile(paths[i], flags, &file) != 0) return -1;
    const auto is_same = [&file](const AskedFile& other) { return other.library == file.library; };
    if (std::any_of(files.begin(), files.end(), is_same)) continue;
    file.path = Intern(paths[i]);
    files.push_back(std::move(file));
  }
  const std::string digest = DigestOfAll(files, contracts);
  *out = registry.Find(digest);
  const bool is_new = *out == nullptr;
  if (is_new && MakeModule(files, contracts, digest, out) != 0) return -1;
  LogLoad(files, **out, is_new, began);
  for (const AskedFile& file : files) RememberFile(file.path, file, files.size() == 1);
  return 0;
}

int Adopt(const KpModule* table, const KpLoadedModule** out) {
  Registry& registry = Leaked<Registry>();
  const std::lock_guard lock(registry.loading);
  // An embedded module has no file to hash: it is the program's own, so its address names it.
  const auto address = reinterpret_cast<uintptr_t>(table);
  const std::string digest = Digest({reinterpret_cast<const char*>(&address), sizeof address});
  if ((*out = registry.Find(digest))) return 0;
  auto module = std::make_unique<KpLoadedModule>();
  module->digest = digest;
  if (MachineCpu(&module->cpu) != 0) return -1;
  std::vector<Part> parts(1);
  if (MakePart(table, "<embedded>", nullptr, &parts[0]) != 0 || Make(std::move(parts), false, {}, module.get()) != 0)
    return -1;
  module->path.clear();
  *out = registry.Publish(std::move(module));
  return 0;
}

}  // namespace

const KpLoadedModule* FindModule(std::string_view name, std::string_view digest) {
  const KpLoadedModule* module = Leaked<Registry>().Find(std::string(digest));
  return module && module->name == name ? module : nullptr;
}

int CountModulesOfMajor(std::string_view name, std::string_view major, const KpLoadedModule** out) {
  return Leaked<Registry>().CountMajor(name, major, out);
}

}  // namespace kernpack::host

using namespace kernpack::host;

extern "C" int kp_module_load(const char* const* paths, int32_t count, uint32_t flags, const KpLoadedModule** out) {
  *out = nullptr;
  return Guard("kp_module_load", [&] { return Load(paths, count, flags, {}, out); });
}

extern "C" int kp_module_load_contracts(const char* path, KpBytes contracts, uint32_t flags,
                                        const KpLoadedModule** out) {
  *out = nullptr;
  return Guard("kp_module_load_contracts", [&] { return Load(&path, 1, flags, View(contracts), out); });
}

extern "C" int kp_module_adopt(const KpModule* module, const KpLoadedModule** out) {
  *out = nullptr;
  return Guard("kp_module_adopt", [&] { return Adopt(module, out); });
}
