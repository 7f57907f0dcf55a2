// Merging the tables of one or several files into one module.
#include <cstring>

#include "modules/function_index.h"

namespace kernpack::host {
namespace {

int CheckParts(const std::vector<Part>& parts) {
  const KpModule& first = *parts[0].table;
  for (size_t i = 1; i < parts.size(); ++i) {
    const KpModule& other = *parts[i].table;
    if (std::strcmp(first.name, other.name) == 0 && std::strcmp(first.version, other.version) == 0) continue;
    return kp_raise("ValueError",
                    "kernpack.load: '%s' is module %s %s, '%s' is %s %s; load different modules one by one, and "
                    "install the files of one module together",
                    parts[0].path, first.name, first.version, parts[i].path, other.name, other.version);
  }
  return 0;
}

}  // namespace

int BuildModule(std::vector<Part> parts, bool known, KpLoadedModule* out) {
  const KpModule& first = *parts[0].table;
  out->name = first.name;
  out->version = first.version;
  out->sdk_version = first.sdk_version;
  out->path = parts[0].path;
  out->parts = std::move(parts);
  return CheckParts(out->parts) != 0 || (!known && GetIndex(*out) == nullptr) ? -1 : 0;
}

}  // namespace kernpack::host
