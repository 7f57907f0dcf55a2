#include "guests/peer/peer_module.h"

#include <memory>
#include <string_view>
#include <unordered_map>

#include "base/loaded_libraries.h"
#include "base/loader/platform.h"
#include "guests/peer/contracts.h"
#include "guests/peer/peer.h"
#include "modules/function_index.h"
#include "values/object/object.h"

namespace kernpack::host {
namespace {

constexpr std::string_view kMetadata = "_metadata_";
constexpr std::string_view kDoc = "_doc_";

// "/a/libkernels.so.1" -> "kernels"
std::string NameFromPath(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  if (const size_t dot = name.find('.'); dot != std::string::npos) name.resize(dot);
  if (name.starts_with("lib") && name.size() > 3) name.erase(0, 3);
  return name;
}

KpSafeCall Symbol(const Library& library, const std::string& alias) {
  return reinterpret_cast<KpSafeCall>(platform::LibrarySymbol(library.handle, (KP_ALIAS_PREFIX + alias).c_str()));
}

// The result of a `__tvm_ffi__metadata_` or `__tvm_ffi__doc_` function; empty if it fails or doesn't return a string.
std::string Text(KpSafeCall describe) {
  KpAny value = kp_none();
  KpBytes text{nullptr, 0};
  std::string copy;
  if (describe(nullptr, nullptr, 0, &value) != 0) {
    KpAny error = kp_none();
    kp_error_take(nullptr, -1, &error);
    kp_any_release(&error);
  } else if (kp_any_str(&value, &text)) {
    copy.assign(text.data, text.size);
  }
  kp_any_release(&value);
  return copy;
}

// A library with code for devices inside, such as TileLang exports, gets that code through the module that apache-tvm-ffi's loader
// makes of the file and writes into the library. Ours may be another copy of the file: that loader loads the file, too, and ours
// gets what its copy has.
int FillContext(const Library& library) {
  constexpr const char* kContext = KP_ALIAS_PREFIX "_library_ctx";
  auto* const ours = static_cast<void**>(platform::LibrarySymbol(library.handle, kContext));
  if (ours == nullptr || *ours != nullptr) return 0;
  const char* const file = library.path.c_str();
  OwnedAny load;
  OwnedAny path;
  KpAny module = kp_none();  // kept until the process ends, as ours is
  if (PeerGlobal(kp_bytes("ffi.ModuleLoadFromFile"), load.out()) != 0) return -1;
  if (load.get().type_index != KP_TYPE_FUNCTION) {
    return kp_raise("ImportError",
                    "%s: the apache-tvm-ffi of this process has no ffi.ModuleLoadFromFile, which this file needs",
                    file);
  }
  if (kp_string_new(kp_bytes(file), path.out()) != 0 ||
      kp_function_call(load.get().v.v_obj, &path.get(), 1, &module) != 0) {
    return -1;
  }
  void* const copy = detail::loaded_library(file);
  const auto* const theirs = copy == nullptr ? nullptr : static_cast<void**>(FindInLibrary(copy, kContext));
  if (theirs != nullptr) *ours = *theirs;
  return 0;
}

bool IsFunction(std::string_view alias) { return !alias.starts_with(kMetadata) && !alias.starts_with(kDoc); }

}  // namespace

int BuildPeerModule(const Library& library, std::string_view contracts, KpLoadedModule* out) {
  if (FillContext(library) != 0) return -1;
  out->name = NameFromPath(library.path);
  out->sdk_version = "apache-tvm-ffi";
  out->path = library.path;
  out->any_device = true;
  out->made_table = std::make_unique<MadeTable>();
  MadeTable& table = *out->made_table;
  const std::vector<std::string>& aliases = library.symbols.aliases;
  const size_t most = aliases.size() + library.symbols.globals.size();
  table.functions.reserve(most);
  std::unordered_map<std::string_view, size_t> places;
  const auto add = [&](const std::string& name, KpSafeCall call, void* self) {
    places.emplace(name, places.size());
    table.infos.push_back(kPlainFunction);
    table.infos.back().context = self;
    table.functions.push_back(KpFunctionDef{name.c_str(), call, &table.infos.back()});
  };
  for (const std::string& alias : aliases) {
    const KpSafeCall symbol = Symbol(library, alias);
    if (!IsFunction(alias) || !symbol || places.contains(alias)) continue;
    auto* self = new PeerFunction{symbol, alias.c_str()};  // until the process ends, as the module
    add(alias, library.symbols.peer_environment ? &PeerCall : &PeerCallPlain, self);
  }
  for (const std::string& name : library.symbols.globals) {
    KpAny function = kp_none();  // kept until the process ends, as the module is
    if (PeerGlobal(KpBytes{name.data(), name.size()}, &function) != 0) return -1;
    if (function.type_index != KP_TYPE_FUNCTION || places.contains(name)) continue;
    add(name, &PeerCallObject, function.v.v_obj);
  }
  for (const std::string& alias : aliases) {
    const bool metadata = alias.starts_with(kMetadata);
    if (!metadata && !alias.starts_with(kDoc)) continue;
    const auto found = places.find(std::string_view(alias).substr(metadata ? kMetadata.size() : kDoc.size()));
    const KpSafeCall describe = Symbol(library, alias);
    if (found == places.end() || !describe) continue;
    const std::string text = metadata ? DescribeTypeSchema(Text(describe)) : Text(describe);
    if (text.empty()) continue;
    table.strings.push_back(text);
    KpFunctionInfo& info = table.infos[found->second];
    (metadata ? info.cxx_types : info.doc) = table.strings.back().c_str();
  }
  if (!contracts.empty() && AddContracts(contracts, library.path.c_str(), &table) != 0) return -1;
  out->parts = {Part{nullptr, nullptr, library.path.c_str(), table.functions}};
  return contracts.empty() || GetIndex(*out) != nullptr ? 0 : -1;  // an index checks gradients
}

}  // namespace kernpack::host
