#include "guests/peer/library.h"

#include <array>
#include <string_view>

#include <kernpack/host/host.h>

#include "base/loader/elf_view.h"
#include "base/loader/platform.h"

namespace kernpack::host {
namespace {

constexpr std::array<std::string_view, 3> kNeeded{"TVMFFIGetVersion", "TVMFFIEnvSetStream",
                                                  "TVMFFIEnvSetDLPackManagedTensorAllocator"};

bool Exports(const ElfView& elf, std::string_view wanted) {
  const std::span<const char> table = elf.DynamicSymbols();
  for (size_t at = 0; at + sizeof(Elf64_Sym) <= table.size(); at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, table.data() + at, sizeof symbol);
    if (symbol.st_shndx != SHN_UNDEF && elf.DynamicString(symbol.st_name) == wanted) return true;
  }
  return false;
}

}  // namespace

int CheckPeerFile(const char* path) {
  platform::SourceFile file;
  if (file.Open(path) != 0 || file.Read() != 0) return -1;
  ElfView elf(file.bytes());
  std::string problem = elf.Check();
  for (const std::string_view name : kNeeded) {
    if (problem.empty() && !Exports(elf, name)) problem = "does not export " + std::string(name);
  }
  if (problem.empty()) return 0;
  return kp_raise(
      "ImportError",
      "kernpack.load: expected apache-tvm-ffi's library (KERNPACK_TVM_FFI_LIB, or the installed package's), "
      "but '%s' %s; nothing of it was run. Unset the variable, or `pip install apache-tvm-ffi`",
      path, problem.c_str());
}

}  // namespace kernpack::host
