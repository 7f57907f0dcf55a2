// Opening a shared object on Linux with glibc: kept copies, sealed memory files, link maps.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "kernpack/host/host.h"
#include "base/intern.h"
#include "base/leaked.h"
#include "base/descriptor.h"
#include "base/loader/image.h"
#include "base/loader/linux/file_cache.h"
#include "base/loader/linux/opened.h"
#include "base/loader/platform.h"

namespace kernpack::platform {
namespace {

// A sealed memory file holding `content`, or -1 where the system does not allow one.
int MakeSnapshot(const std::string& name, std::span<const char> content) {
  constexpr unsigned kExecutable = 0x10;  // MFD_EXEC, Linux 6.3
  int fd = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING | kExecutable);
  if (fd < 0) fd = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  Descriptor file(fd);
  if (fd < 0 || !WriteAll(fd, content)) return -1;
  if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return -1;
  return file.Release();
}

// A path for the descriptor that was never given to dlopen, which knows an object by its path until the process ends, while numbers of
// descriptors come back: a count, written in steps that lead nowhere ("/." for 1, "/" for 0).
std::string NameDescriptor(int fd) {
  struct Count {
    std::atomic<unsigned> value = 0;
  };
  std::string path = "/proc/" + std::to_string(getpid());  // a debugger's "self" would be another process
  if (access(path.c_str(), X_OK) != 0) path = "/proc/self";
  path += "/fd";
  for (unsigned rest = ++host::Leaked<Count>().value; rest != 0; rest >>= 1) path += (rest & 1) != 0 ? "/." : "/";
  return path + "/" + std::to_string(fd);
}

// Loads a copy of `content`. NULL with an empty *error where the system allows no copy.
void* OpenCopy(const char* path, std::span<const char> content, const std::string& digest, std::string* error) {
  const char* base = std::strrchr(path, '/');
  const std::string file_name =
      std::string(base ? base + 1 : path).substr(0, 200);  // a memory file's has up to 249 bytes
  if (const std::string kept = KeepCopy(file_name, content, digest); !kept.empty()) {
    void* handle = Open(kept, error);
    if (handle || !MayNotBeExecuted(*error)) return handle;
    error->clear();
  }
  const Descriptor memory(MakeSnapshot(file_name, content));
  if (memory.get() < 0) return nullptr;
  void* handle = Open(NameDescriptor(memory.get()), error);
  link_map* map = nullptr;
  // The descriptor closes now: debuggers and backtraces get a name that stays.
  if (handle && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) {
    map->l_name = const_cast<char*>(host::Intern(RealPath(path)));
  }
  return handle;
}

int RaiseRefused(const char* path, const std::string& error) {
  return kp_raise("ImportError", "kernpack.load: the dynamic linker refuses '%s': %s", path, error.c_str());
}

}  // namespace

int OpenLibrary(const char* path, std::span<const char> content, const FileState& state, const std::string& digest,
                OpenFrom* from, void** handle) {
  std::string error;
  if (*from == OpenFrom::kInPlace) {
    const InPlace opened = OpenInPlace(path, content, state, digest, handle, &error);
    if (opened == InPlace::kOpened) return 0;
    if (opened == InPlace::kRefused) return RaiseRefused(path, error);
    if (opened == InPlace::kReplaced) return host::RaiseReplaced(path);
    *from = OpenFrom::kSnapshot;
  }
  if (*from == OpenFrom::kSnapshot) {
    *handle = OpenCopy(path, content, digest, &error);
    if (*handle) return 0;
    if (!error.empty()) return RaiseRefused(path, error);
  }
  const std::string real = RealPath(path);
  const bool path_is_taken = PathIsTaken(real, digest);
  if (*from == OpenFrom::kPath && path_is_taken) {
    *handle = OpenCopy(path, content, digest, &error);
    if (*handle) return 0;
    if (!error.empty()) return RaiseRefused(path, error);
  }
  if (path_is_taken) {
    return kp_raise(
        "ImportError",
        "kernpack.load: '%s' was replaced after its first load, and this system offers no memory file to load the new "
        "content from; restart the process to use it",
        path);
  }
  TakePath(real, digest);
  *handle = Open(real, &error);
  if (!*handle) return RaiseRefused(path, error);
  // A path may name an object that this process had before; a copy, under a name of its own, cannot.
  return ImageHolds(*handle, content) ? 0 : host::RaiseReplaced(path);
}

bool FindMapping(void* handle, Mapping* out) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map) return false;
  // The header in memory is what a damaged table might point before or behind: the dynamic linker's own list is asked.
  struct Search {
    const link_map* map;
    Mapping* out;
  } search{map, out};
  const auto visit = [](dl_phdr_info* info, size_t, void* context) {
    const auto& [own, mapping] = *static_cast<Search*>(context);
    if (info->dlpi_addr != own->l_addr) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_R)) continue;
      mapping->ranges.push_back({segment.p_vaddr, segment.p_vaddr + segment.p_memsz, (segment.p_flags & PF_X) != 0});
    }
    return 1;
  };
  out->base = map->l_addr;
  return dl_iterate_phdr(visit, &search) == 1;
}

void* LibrarySymbol(void* handle, const char* name) {
  void* symbol = dlsym(handle, name);
  if (!symbol) (void)dlerror();
  return symbol;
}

}  // namespace kernpack::platform
