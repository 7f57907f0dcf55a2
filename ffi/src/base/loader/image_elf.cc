// The ELF side of image.h.
#include <kernpack/host/host.h>

#include "base/loader/elf_view.h"
#include "base/loader/image.h"

namespace kernpack::host {
namespace {

bool FindsNeighboursByOrigin(const ElfView& elf) {
  for (const Elf64_Dyn& entry : elf.dynamic()) {
    if (entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH) continue;
    const std::string_view folders = elf.DynamicString(entry.d_un.d_val);
    if (folders.find("$ORIGIN") != std::string_view::npos || folders.find("${ORIGIN}") != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

template <class Visit>
void ForEachSymbol(const ElfView& elf, Visit&& visit) {
  const std::span<const char> table = elf.DynamicSymbols();
  for (size_t at = 0; at + sizeof(Elf64_Sym) <= table.size(); at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, table.data() + at, sizeof symbol);
    if (!visit(symbol, elf.DynamicString(symbol.st_name))) return;
  }
}

void ReadSymbols(const ElfView& elf, ImageSymbols* out) {
  // The query first: a module of ours with thousands of functions has as many aliases, which nobody needs.
  ForEachSymbol(elf, [out](const Elf64_Sym& symbol, std::string_view name) {
    out->has_query = symbol.st_shndx != SHN_UNDEF && name == KP_MODULE_QUERY_SYMBOL;
    return !out->has_query;
  });
  if (out->has_query) return;
  ForEachSymbol(elf, [out](const Elf64_Sym& symbol, std::string_view name) {
    constexpr std::string_view kPrefix = KP_ALIAS_PREFIX;
    if (symbol.st_shndx == SHN_UNDEF) {
      out->peer_environment = out->peer_environment || name.starts_with("TVMFFIEnv");
      out->peer_globals = out->peer_globals || name.starts_with("TVMFFIFunctionSetGlobal");
    } else if (IsQueryOfSomeMajor(name, KP_MODULE_QUERY_PREFIX)) {
      out->other_query = name;
    } else if (name.starts_with(kPrefix) && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) {
      out->aliases.emplace_back(name.substr(kPrefix.size()));
    }
    return true;
  });
}

}  // namespace

std::string QueryOfOtherMajor(std::span<const char> content, std::string_view prefix, std::string_view own) {
  ElfView elf(content);
  if (!elf.Check().empty()) return {};
  std::string other;
  bool has_own = false;
  ForEachSymbol(elf, [&](const Elf64_Sym& symbol, std::string_view name) {
    if (symbol.st_shndx == SHN_UNDEF) return true;
    has_own = name == own;
    if (!has_own && IsQueryOfSomeMajor(name, prefix)) other = name;
    return !has_own;
  });
  return has_own ? std::string() : other;
}

int InspectImage(const char* path, std::span<const char> content, Image* out) {
  ElfView elf(content);
  const std::string problem = elf.Check();
  if (!problem.empty()) return kp_raise("ImportError", "kernpack.load: '%s' %s", path, problem.c_str());
  out->uses_origin = FindsNeighboursByOrigin(elf);
  ReadSymbols(elf, &out->symbols);
  return CheckExports(path, out->symbols);
}

}  // namespace kernpack::host
