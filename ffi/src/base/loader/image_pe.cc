// The PE side of image.h.
#include <kernpack/host/host.h>

#include "base/loader/image.h"
#include "base/loader/pe_view.h"
#include "base/os/files.h"
#include "base/os/path.h"

namespace kernpack::host {
namespace {

// Windows looks for such libraries beside the file that it loads, which a copy has moved away from.
bool HasNeighbours(const char* path, const PeView& pe) {
  const std::string whole(path);
  const std::string folder = whole.substr(0, whole.size() - os::FileName(whole).size());
  bool found = false;
  pe.ForEachImport([&](std::string_view library) {
    std::string beside = folder;
    found = found || os::Exists(beside.append(library).c_str());
  });
  return found;
}

void ReadExports(const PeView& pe, ImageSymbols* out) {
  pe.ForEachExport([out](std::string_view name, bool is_code) {
    constexpr std::string_view kPrefix = KP_ALIAS_PREFIX;
    if (name == KP_MODULE_QUERY_SYMBOL) {
      out->has_query = true;
    } else if (IsQueryOfSomeMajor(name, KP_MODULE_QUERY_PREFIX)) {
      out->other_query = name;
    } else if (name.starts_with(kPrefix) && is_code) {
      out->aliases.emplace_back(name.substr(kPrefix.size()));
    }
    return !out->has_query;
  });
  if (!out->has_query) return;
  out->aliases.clear();
  out->other_query.clear();
}

}  // namespace

std::string QueryOfOtherMajor(std::span<const char> content, std::string_view prefix, std::string_view own) {
  PeView pe(content);
  if (!pe.Check().empty()) return {};
  std::string other;
  bool has_own = false;
  pe.ForEachExport([&](std::string_view name, bool) {
    has_own = name == own;
    if (!has_own && IsQueryOfSomeMajor(name, prefix)) other = name;
    return !has_own;
  });
  return has_own ? std::string() : other;
}

int InspectImage(const char* path, std::span<const char> content, Image* out) {
  PeView pe(content);
  const std::string problem = pe.Check();
  if (!problem.empty()) return kp_raise("ImportError", "kernpack.load: '%s' %s", path, problem.c_str());
  out->uses_origin = HasNeighbours(path, pe);
  ReadExports(pe, &out->symbols);
  return CheckExports(path, out->symbols);
}

}  // namespace kernpack::host
