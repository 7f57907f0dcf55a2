#include "base/loader/image.h"

#include <cstdlib>

#include <kernpack/host/host.h>

#include "base/abi_version.h"

namespace kernpack::host {
namespace {

// Whatever else it exports: its aliases would work without its signatures.
int RefuseOtherMajor(const char* path, const std::string& query) {
  const std::string digits = query.substr(std::string_view(KP_MODULE_QUERY_PREFIX).size());
  const std::string text =
      OtherMajorText("needs a host of ABI " + digits + ".x (it exports " + query + ")", "ABI", KP_ABI_VERSION,
                     ParseMajor(query, KP_MODULE_QUERY_PREFIX),
                     "install a newer build of the module, or rebuild it with this version of kernpack-sdk");
  return kp_raise("ImportError", "kernpack.load: '%s' %s", path, text.c_str());
}

}  // namespace

bool IsQueryOfSomeMajor(std::string_view name, std::string_view prefix) {
  return name.size() > prefix.size() && name.starts_with(prefix) &&
         name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
}

std::string Incomplete(const char* part, uint64_t end, uint64_t size) {
  return std::string("is truncated or damaged: its ") + part + " would end at byte " + std::to_string(end) + " of " +
         std::to_string(size) + "; copy or download it again";
}

unsigned long ParseMajor(const std::string& query, std::string_view prefix) {
  return std::strtoul(query.c_str() + prefix.size(), nullptr, 10);
}

int RaiseReplaced(const char* path) {
  return kp_raise(
      "ImportError",
      "kernpack.load: '%s' was replaced while it was being loaded, or an older file of that path is in this "
      "process already; load it again, or restart the process",
      path);
}

int CheckExports(const char* path, const ImageSymbols& symbols) {
  if (!symbols.other_query.empty()) return RefuseOtherMajor(path, symbols.other_query);
  if (symbols.has_query || !symbols.aliases.empty() || symbols.peer_globals) return 0;
  return kp_raise(
      "ImportError",
      "kernpack.load: '%s' is a shared object but not a kernel module: it exports neither " KP_MODULE_QUERY_SYMBOL
      " nor any " KP_ALIAS_PREFIX " function; declare KP_MODULE and KP_EXPORT, and keep the symbols visible",
      path);
}

}  // namespace kernpack::host
