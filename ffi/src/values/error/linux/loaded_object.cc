#include "values/error/loaded_object.h"

#include <fcntl.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/descriptor.h"

namespace kernpack::host {
namespace {

struct Search {
  uintptr_t address;
  LoadedObject* out;
};

// Runs with the dynamic linker's lock held, so that the object stays mapped.
int Visit(dl_phdr_info* info, size_t, void* data) noexcept {
  const auto* search = static_cast<Search*>(data);
  const ElfW(Phdr)* first = nullptr;
  bool holds = false;
  for (const ElfW(Phdr)* segment = info->dlpi_phdr; segment != info->dlpi_phdr + info->dlpi_phnum; ++segment) {
    if (segment->p_type != PT_LOAD) continue;
    if (segment->p_offset == 0 && (segment->p_flags & PF_R)) first = segment;
    holds = holds || search->address - (info->dlpi_addr + segment->p_vaddr) < segment->p_memsz;
  }
  if (!holds) return 0;
  LoadedObject* out = search->out;
  out->base = info->dlpi_addr;
  const bool program = info->dlpi_name == nullptr || *info->dlpi_name == '\0';
  std::snprintf(out->path, sizeof out->path, "%s", program ? "/proc/self/exe" : info->dlpi_name);
  out->head_size = 0;
  if (first) {
    out->head_size = std::min<size_t>(first->p_filesz, sizeof out->head);
    // NOLINTNEXTLINE(*-no-int-to-ptr)
    std::memcpy(out->head, reinterpret_cast<const void*>(info->dlpi_addr + first->p_vaddr), out->head_size);
  }
  return 1;
}

// True if every section is inside the file, because readers map the sections.
bool IsWhole(int file) noexcept {
  struct stat facts{};
  ElfW(Ehdr) header;
  if (fstat(file, &facts) != 0 || pread(file, &header, sizeof header, 0) != sizeof header) return false;
  const auto end = static_cast<uint64_t>(facts.st_size);
  for (uint64_t i = 0; i < header.e_shnum; ++i) {
    ElfW(Shdr) section;
    const auto at = static_cast<off_t>(header.e_shoff + i * sizeof section);
    if (pread(file, &section, sizeof section, at) != sizeof section) return false;
    if (section.sh_type == SHT_NOBITS) continue;
    if (section.sh_offset > end || section.sh_size > end - section.sh_offset) return false;
  }
  return header.e_shnum != 0 && header.e_shentsize == sizeof(ElfW(Shdr));
}

}  // namespace

bool FindLoadedObject(const void* address, LoadedObject* out) noexcept {
  Search search{reinterpret_cast<uintptr_t>(address), out};
  return dl_iterate_phdr(Visit, &search) == 1;
}

bool IsItsFile(const LoadedObject& object) noexcept {
  const platform::Descriptor file(open(object.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  char head[sizeof object.head];
  const ssize_t size = pread(file.get(), head, object.head_size, 0);
  return size > 0 && std::string_view(head, static_cast<size_t>(size)) == object.Head() && IsWhole(file.get());
}

}  // namespace kernpack::host
