// Opening a shared object on Linux with glibc: kept copies, sealed memory files, link maps.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "kernpack/host/host.h"
#include "base/fork.h"
#include "base/intern.h"
#include "base/leaked.h"
#include "base/descriptor.h"
#include "base/loader/linux/kept.h"
#include "base/loader/platform.h"

namespace kernpack::platform {
namespace {

// glibc knows an object by its path string: under which string did which content go to dlopen? Leaked, as everything loaded is.
struct Paths {
  host::ForkMutex mutex{host::LockRank::kNames};
  std::map<std::string, std::string> digests;

  static bool IsTaken(const std::string& path, const std::string& digest) {
    Paths& paths = host::Leaked<Paths>();
    const std::lock_guard lock(paths.mutex);
    const auto used = paths.digests.find(path);
    return used != paths.digests.end() && used->second != digest;
  }
  static void Take(const std::string& path, const std::string& digest) {
    Paths& paths = host::Leaked<Paths>();
    const std::lock_guard lock(paths.mutex);
    paths.digests.emplace(path, digest);
  }
};

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

// True if the segments that the dynamic linker mapped equal `content`. Compares every segment that is never written.
bool ImageHolds(void* handle, std::span<const char> content) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map) return false;
  ElfW(Ehdr) header;
  std::memcpy(&header, content.data(), sizeof header);
  for (size_t i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    std::memcpy(&segment, content.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) || !(segment.p_flags & PF_R)) continue;
    const auto* loaded = reinterpret_cast<const char*>(map->l_addr + segment.p_vaddr);  // NOLINT(*-no-int-to-ptr)
    if (std::memcmp(loaded, content.data() + segment.p_offset, segment.p_filesz) != 0) return false;
  }
  return true;
}

std::string RealPath(const char* path) {
  char* resolved = realpath(path, nullptr);
  std::string text = resolved ? resolved : path;
  std::free(resolved);
  return text;
}

void* Open(const std::string& name, std::string* error) {
  const host::NoFork no_fork;
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle) return handle;
  const char* reason = dlerror();
  *error = reason ? reason : "unknown reason";
  if (error->starts_with(name + ": ")) error->erase(0, name.size() + 2);
  return nullptr;
}

// Loads a copy of `content`. NULL with an empty *error where the system allows no copy.
void* OpenCopy(const char* path, std::span<const char> content, const std::string& digest, std::string* error) {
  const char* base = std::strrchr(path, '/');
  const std::string file_name =
      std::string(base ? base + 1 : path).substr(0, 200);  // a memory file's has up to 249 bytes
  if (const std::string kept = KeepCopy(file_name, content, digest); !kept.empty()) {
    void* handle = Open(kept, error);
    // A folder whose files may not be executed.
    if (handle || error->find("failed to map segment") == std::string::npos) return handle;
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

int OpenLibrary(const char* path, std::span<const char> content, const std::string& digest, OpenFrom from,
                void** handle) {
  std::string error;
  if (from == OpenFrom::kSnapshot) {
    *handle = OpenCopy(path, content, digest, &error);
    if (*handle) return 0;
    if (!error.empty()) return RaiseRefused(path, error);
  }
  const std::string real = RealPath(path);
  const bool path_is_taken = Paths::IsTaken(real, digest);
  if (from == OpenFrom::kPath && path_is_taken) {
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
  Paths::Take(real, digest);
  *handle = Open(real, &error);
  if (!*handle) return RaiseRefused(path, error);
  // A path may name an object that this process had before; a copy, under a name of its own, cannot.
  if (!ImageHolds(*handle, content)) {
    return kp_raise(
        "ImportError",
        "kernpack.load: '%s' was replaced while it was being loaded, or an older file of that path is in this "
        "process already; load it again, or restart the process",
        path);
  }
  return 0;
}

void* LibrarySymbol(void* handle, const char* name) {
  void* symbol = dlsym(handle, name);
  if (!symbol) (void)dlerror();
  return symbol;
}

}  // namespace kernpack::platform
