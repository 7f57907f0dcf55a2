#include "base/loader/linux/opened.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>

#include "base/fork.h"
#include "base/leaked.h"

namespace kernpack::platform {
namespace {

// Leaked, as everything loaded is.
struct Taken {
  host::ForkMutex mutex{host::LockRank::kNames};
  std::map<std::string, std::string, std::less<>>
      digests;  // by path string, and by number of a file that was opened in place
};

// How many objects the dynamic linker has loaded in this process.
unsigned long long CountLoads() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<unsigned long long*>(out) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

// A spelling of the path that no other content had: each "/." leads nowhere. Debuggers and $ORIGIN understand it.
std::string UntakenPath(const char* path, const std::string& digest) {
  std::string name = *path == '/' ? path : RealPath(path);
  while (PathIsTaken(name, digest)) {
    const size_t slash = name.rfind('/');
    name.insert(slash == std::string::npos ? 0 : slash, "/.");
  }
  return name;
}

// The device and the number of the file. glibc knows an object by these, too.
std::string GetNumber(const FileState& state) {
  return state.text.substr(0, state.text.find('-', state.text.find('-') + 1));
}

}  // namespace

bool PathIsTaken(const std::string& path, const std::string& digest) {
  auto& taken = host::Leaked<Taken>();
  const std::lock_guard lock(taken.mutex);
  const auto used = taken.digests.find(path);
  return used != taken.digests.end() && used->second != digest;
}

void TakePath(const std::string& path, const std::string& digest) {
  auto& taken = host::Leaked<Taken>();
  const std::lock_guard lock(taken.mutex);
  taken.digests.emplace(path, digest);
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

bool MayNotBeExecuted(const std::string& error) { return error.find("failed to map segment") != std::string::npos; }

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

InPlace OpenInPlace(const char* path, std::span<const char> content, const FileState& state, const std::string& digest,
                    void** handle, std::string* error) {
  const std::string number = GetNumber(state);
  if (PathIsTaken(number, digest)) return InPlace::kImpossible;
  const std::string name = UntakenPath(path, digest);
  const unsigned long long before = CountLoads();
  *handle = Open(name, error);
  if (!*handle) return MayNotBeExecuted(*error) ? InPlace::kImpossible : InPlace::kRefused;
  TakePath(name, digest);
  TakePath(number, digest);
  if (!HasContentOf(name.c_str(), state)) return InPlace::kReplaced;
  // Where nothing was loaded, somebody else loaded an object of that path or number before, maybe with other content.
  if (CountLoads() == before && (content.empty() || !ImageHolds(*handle, content))) return InPlace::kReplaced;
  return InPlace::kOpened;
}

}  // namespace kernpack::platform
