// Opening a DLL: a copy of its content (file_cache.h), or the file itself.
#include <cstring>
#include <map>
#include <mutex>

#include <kernpack/host/host.h>

#include "base/fork.h"
#include "base/leaked.h"
#include "base/loaded_libraries.h"
#include "base/loader/image.h"
#include "base/loader/pe_view.h"
#include "base/loader/platform.h"
#include "base/loader/windows/file_cache.h"
#include "base/os/files.h"
#include "base/os/path.h"
#include "base/os/windows/text.h"

namespace kernpack::platform {
namespace {

// Windows knows a DLL by its path: which content was loaded from which? Leaked, as everything loaded is.
struct Taken {
  host::ForkMutex mutex{host::LockRank::kNames};
  std::map<std::string, std::string, std::less<>> digests;
};

// False if another content was loaded from the path before.
bool TakePath(const std::string& path, const std::string& digest) {
  auto& taken = host::Leaked<Taken>();
  const std::lock_guard lock(taken.mutex);
  return taken.digests.emplace(path, digest).first->second == digest;
}

// " (it needs cublas64_13.dll, which isn't found)": Windows doesn't say which library is missing.
std::string DescribeMissing(std::span<const char> content) {
  host::PeView pe(content);
  std::string names;
  if (!pe.Check().empty()) return names;
  pe.ForEachImport([&names](std::string_view library) {
    const std::wstring wide = host::os::Wide(library);
    HMODULE found = GetModuleHandleW(wide.c_str());
    if (found != nullptr) return;
    found = LoadLibraryExW(wide.c_str(), nullptr, LOAD_LIBRARY_AS_DATAFILE | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
    if (found != nullptr) {
      FreeLibrary(found);
    } else {
      names.append(names.empty() ? "" : ", ").append(library);
    }
  });
  return names.empty() ? names : "; it needs " + names + ", not found";
}

int Open(const char* path, const std::string& opened, std::span<const char> content, void** handle) {
  std::string why;
  *handle = host::OpenForGood(opened.c_str(), host::Binding::kNow, &why);
  if (*handle != nullptr) return 0;
  return kp_raise("ImportError", "kernpack.load: the dynamic linker refuses '%s': %s%s", path, why.c_str(),
                  DescribeMissing(content).c_str());
}

// True if the headers in memory are the file's, but for the address that the DLL was moved to: another file may have been at the path
// before the loader was done, or in this process under that path.
bool HoldsHeaders(void* handle, std::span<const char> content) {
  host::PeView pe(content);
  if (!pe.Check().empty()) return false;
  const size_t size = std::min<size_t>(pe.HeaderBytes(), content.size());
  std::string loaded(static_cast<const char*>(handle), size);
  std::string written(content.data(), size);
  for (std::string* headers : {&loaded, &written})
    headers->replace(pe.BaseOffset(), sizeof(uint64_t), sizeof(uint64_t), '\0');
  return loaded == written;
}

int OpenItself(const char* path, std::span<const char> content, const std::string& digest, void** handle) {
  const std::string real = host::os::GetRealPath(path);
  if (!TakePath(real, digest)) return host::RaiseReplaced(path);
  if (Open(path, real.empty() ? path : real, content, handle) != 0) return -1;
  return HoldsHeaders(*handle, content) ? 0 : host::RaiseReplaced(path);
}

}  // namespace

int OpenLibrary(const char* path, std::span<const char> content, const FileState&, const std::string& digest,
                OpenFrom* from, void** handle) {
  if (*from == OpenFrom::kSnapshot) {
    const std::wstring copy = KeepCopy(host::os::FileName(path), content, digest);
    if (!copy.empty()) return Open(path, host::os::Utf8(copy), content, handle);
    *from = OpenFrom::kPath;
  }
  return OpenItself(path, content, digest, handle);
}

bool FindMapping(void*, Mapping*) { return false; }

void* LibrarySymbol(void* handle, const char* name) { return host::FindInLibrary(handle, name); }

}  // namespace kernpack::platform
