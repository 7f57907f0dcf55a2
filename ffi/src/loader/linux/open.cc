// Opening a shared object on Linux with glibc: sealed memory files, link maps.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>

#include "kernpack/host/host.h"
#include "base/leaked.h"
#include "loader/linux/descriptor.h"
#include "loader/platform.h"

namespace kernpack::platform {
namespace {

// glibc knows an object by its path string: under which string did which content go to dlopen? Loads are serialised by
// the loader's lock. Leaked, as everything loaded is.
std::map<std::string, std::string>& PathsInUse() {
  struct Paths : std::map<std::string, std::string> {};
  return host::Leaked<Paths>();
}

bool WriteAll(int fd, std::span<const char> content) {
  while (!content.empty()) {
    const ssize_t written = write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content = content.subspan(static_cast<size_t>(written));
  }
  return true;
}

// A sealed memory file holding `content`, or -1 where the system does not allow one.
int MakeSnapshot(const char* path, std::span<const char> content) {
  const char* base = std::strrchr(path, '/');
  std::string name(base ? base + 1 : path);
  name.resize(std::min<size_t>(name.size(), 200));  // the kernel takes up to 249 bytes
  constexpr unsigned kExecutable = 0x10;             // MFD_EXEC, Linux 6.3
  int fd = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING | kExecutable);
  if (fd < 0) fd = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  Descriptor file(fd);
  if (fd < 0 || !WriteAll(fd, content)) return -1;
  if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return -1;
  return file.Release();
}

// The folder of our descriptors. The process's number, rather than "self", lets a debugger or profiler in another process
// open them too.
const std::string& DescriptorFolder() {
  struct Folder {
    pid_t process = 0;  // a forked child has another
    std::string path;
  };
  Folder& known = host::Leaked<Folder>();
  if (known.process != getpid()) {
    known.path = "/proc/" + std::to_string(getpid()) + "/fd/";
    if (access(known.path.c_str(), R_OK) != 0) known.path = "/proc/self/fd/";
    known.process = getpid();
  }
  return known.path;
}

// A path string for the descriptor that was never given to dlopen. A number comes back when somebody closed our
// descriptor: skip it.
std::string NameSnapshot(int* fd) {
  for (;;) {
    std::string name = DescriptorFolder() + std::to_string(*fd);
    if (!PathsInUse().contains(name)) return name;
    const int next = fcntl(*fd, F_DUPFD_CLOEXEC, *fd + 1);
    if (next < 0) return {};
    *fd = next;  // the old number stays taken, so that it cannot come back once more
  }
}

// Whether what the dynamic linker mapped is `content`: every segment that is never written.
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

// The name of a snapshot of `content`, which stays open for life; empty where the system does not allow one.
std::string OpenSnapshot(const char* path, std::span<const char> content) {
  int fd = MakeSnapshot(path, content);
  return fd < 0 ? std::string() : NameSnapshot(&fd);
}

// The string to open `content` under; empty with an error raised when there is none left.
std::string ChooseName(const char* path, std::span<const char> content, const std::string& digest, OpenFrom from) {
  if (from == OpenFrom::kSnapshot) {
    if (std::string name = OpenSnapshot(path, content); !name.empty()) return name;
  }
  std::string real = RealPath(path);
  const auto used = PathsInUse().find(real);
  if (used == PathsInUse().end() || used->second == digest) return real;
  if (from == OpenFrom::kPath) {
    if (std::string name = OpenSnapshot(path, content); !name.empty()) return name;
  }
  kp_raise(
      "ImportError",
      "kernpack.load: '%s' was replaced after its first load, and this system offers no memory file to load the new "
      "content from; restart the process to use it",
      path);
  return {};
}

}  // namespace

int OpenLibrary(const char* path, std::span<const char> content, const std::string& digest, OpenFrom from,
                void** handle) {
  const std::string name = ChooseName(path, content, digest, from);
  if (name.empty()) return -1;
  PathsInUse().emplace(name, digest);
  *handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!*handle) {
    const char* reason = dlerror();
    std::string text = reason ? reason : "unknown reason";
    if (text.starts_with(name + ": ")) text.erase(0, name.size() + 2);
    return kp_raise("ImportError", "kernpack.load: the dynamic linker refuses '%s': %s", path, text.c_str());
  }
  // A path may name an object that this process had before; a snapshot, new under a new name and sealed, cannot.
  if (!name.starts_with(DescriptorFolder()) && !ImageHolds(*handle, content)) {
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
