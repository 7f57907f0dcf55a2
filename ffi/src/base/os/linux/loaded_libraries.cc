#include "base/loaded_libraries.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

namespace kernpack::host {

unsigned long long LoadCount() noexcept {
  unsigned long long adds = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<unsigned long long*>(out) = info->dlpi_adds;
        return 1;
      },
      &adds);
  return adds;
}

void* FindLoaded(std::string_view prefix) noexcept {
  struct Search {
    std::string_view prefix;
    std::string path;
  } search{prefix, {}};
  const auto visit = [](dl_phdr_info* info, size_t, void* data) {
    auto* wanted = static_cast<Search*>(data);
    if (info->dlpi_name == nullptr) return 0;
    const char* slash = std::strrchr(info->dlpi_name, '/');
    const char* file = slash ? slash + 1 : info->dlpi_name;
    // Each load of a module looks at all that the process has loaded.
    if (std::strncmp(file, wanted->prefix.data(), wanted->prefix.size()) != 0) return 0;
    wanted->path = info->dlpi_name;
    return 1;
  };
  try {
    if (dl_iterate_phdr(visit, &search) == 0) return nullptr;
  } catch (...) {
    return nullptr;  // no memory for a path
  }
  void* handle = dlopen(search.path.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (handle == nullptr) dlerror();  // clears the message, which would otherwise look like somebody else's
  return handle;
}

void* FindInLibrary(void* library, const char* name) noexcept {
  void* found = dlsym(library, name);
  if (found == nullptr) dlerror();
  return found;
}

void* FindInProcess(const char* name) noexcept { return FindInLibrary(RTLD_DEFAULT, name); }

void* OpenForGood(const char* path, Binding binding, std::string* why) {
  void* library = dlopen(path, (binding == Binding::kNow ? RTLD_NOW : RTLD_LAZY) | RTLD_LOCAL | RTLD_NODELETE);
  if (library != nullptr) return library;
  const char* reason = dlerror();
  *why = reason ? reason : "unknown reason";
  return nullptr;
}

std::string OwnPath() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&OwnPath), &self) == 0 || self.dli_fname == nullptr) return {};
  // A frozen program opens it by a link in another folder; its backends are beside the file itself.
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(self.dli_fname, nullptr), &std::free);
  return real ? real.get() : self.dli_fname;
}

}  // namespace kernpack::host
