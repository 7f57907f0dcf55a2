// Tables that the dynamic linker trusts blindly: a damaged one would end the process inside dlopen.
#include <algorithm>

#include "loader/elf_view.h"

namespace kernpack::host {
namespace {

struct Table {
  int64_t where;
  int64_t length;    // 0: not told
  uint32_t section;  // the type of section it is, or SHT_NULL
  uint32_t flags;    // of the segment that holds it
};

constexpr Table kTables[] = {{DT_STRTAB, DT_STRSZ, SHT_STRTAB, 0},
                             {DT_SYMTAB, 0, SHT_DYNSYM, 0},
                             {DT_GNU_HASH, 0, SHT_GNU_HASH, 0},
                             {DT_HASH, 0, SHT_HASH, 0},
                             {DT_VERSYM, 0, SHT_GNU_versym, 0},
                             {DT_VERNEED, 0, SHT_GNU_verneed, 0},
                             {DT_VERDEF, 0, SHT_GNU_verdef, 0},
                             {DT_RELA, DT_RELASZ, SHT_RELA, 0},
                             {DT_JMPREL, DT_PLTRELSZ, SHT_RELA, 0},
                             {DT_RELR, DT_RELRSZ, SHT_RELR, 0},
                             {DT_INIT_ARRAY, DT_INIT_ARRAYSZ, SHT_INIT_ARRAY, 0},
                             {DT_FINI_ARRAY, DT_FINI_ARRAYSZ, SHT_FINI_ARRAY, 0},
                             {DT_INIT, 0, SHT_NULL, PF_X},
                             {DT_FINI, 0, SHT_NULL, PF_X},
                             {DT_PLTGOT, 0, SHT_NULL, 0}};

// Sizes of entries, which have one right value.
constexpr struct {
  int64_t tag;
  uint64_t value;
} kFixed[] = {{DT_SYMENT, sizeof(Elf64_Sym)}, {DT_RELAENT, sizeof(Elf64_Rela)}, {DT_RELRENT, 8}, {DT_PLTREL, DT_RELA}};

#if defined(__x86_64__)
constexpr uint32_t kRelative = R_X86_64_RELATIVE;
constexpr uint32_t kNone = R_X86_64_NONE;
#else
constexpr uint32_t kRelative = R_AARCH64_RELATIVE;
constexpr uint32_t kNone = R_AARCH64_NONE;
#endif

// {an entry, what must be there with it}
constexpr int64_t kPairs[][2] = {{DT_RELA, DT_RELASZ},
                                 {DT_RELA, DT_RELAENT},
                                 {DT_RELASZ, DT_RELA},
                                 {DT_JMPREL, DT_PLTRELSZ},
                                 {DT_JMPREL, DT_PLTREL},
                                 {DT_PLTRELSZ, DT_JMPREL},
                                 {DT_RELR, DT_RELRSZ},
                                 {DT_RELR, DT_RELRENT},
                                 {DT_RELRSZ, DT_RELR},
                                 {DT_INIT_ARRAY, DT_INIT_ARRAYSZ},
                                 {DT_INIT_ARRAYSZ, DT_INIT_ARRAY},
                                 {DT_FINI_ARRAY, DT_FINI_ARRAYSZ},
                                 {DT_FINI_ARRAYSZ, DT_FINI_ARRAY},
                                 {DT_SYMTAB, DT_SYMENT},
                                 {DT_STRTAB, DT_STRSZ},
                                 {DT_VERNEED, DT_VERNEEDNUM},
                                 {DT_VERDEF, DT_VERDEFNUM}};

}  // namespace

bool ElfView::HasDynamic(int64_t tag) const {
  return std::any_of(dynamic_.begin(), dynamic_.end(), [tag](const Elf64_Dyn& entry) { return entry.d_tag == tag; });
}

// Entries that belong together are all there, once each.
std::string ElfView::CheckEntries() const {
  std::vector<int64_t> tags;
  for (const Elf64_Dyn& entry : dynamic_) {
    if (entry.d_tag != DT_NEEDED) tags.push_back(entry.d_tag);
  }
  std::sort(tags.begin(), tags.end());
  if (std::adjacent_find(tags.begin(), tags.end()) != tags.end())
    return Damaged("its dynamic section repeats an entry");
  for (const auto& [entry, companion] : kPairs) {
    if (HasDynamic(entry) && !HasDynamic(companion)) return Damaged("its dynamic section lacks an entry");
  }
  if (!HasDynamic(DT_GNU_HASH) && !HasDynamic(DT_HASH)) return Damaged("its dynamic section lacks an entry");
  return {};
}

std::string ElfView::CheckTables() const {
  if (std::string problem = CheckEntries(); !problem.empty()) return problem;
  for (const Elf64_Dyn& entry : dynamic_) {
    for (const auto& fixed : kFixed) {
      if (entry.d_tag == fixed.tag && entry.d_un.d_val != fixed.value) {
        return Damaged("its dynamic section gives entries an unknown size");
      }
    }
    const auto table = std::find_if(std::begin(kTables), std::end(kTables),
                                    [&](const Table& candidate) { return candidate.where == entry.d_tag; });
    if (table == std::end(kTables)) continue;
    const uint64_t size = table->length ? DynamicValue(table->length) : 1;
    if (!Mapped(entry.d_un.d_val, size, table->flags)) {
      return Damaged("its dynamic section names addresses outside the image");
    }
    if (table->section != SHT_NULL && !sections_.empty() &&
        !HasSection(table->section, entry.d_un.d_val, table->length ? size : 0)) {
      return Damaged("its dynamic section and its section headers disagree");
    }
  }
  if (std::string problem = CheckAgainstSections(); !problem.empty()) return problem;
  if (std::string problem = CheckRelocations(DT_RELA, DT_RELASZ); !problem.empty()) return problem;
  return CheckRelocations(DT_JMPREL, DT_PLTRELSZ);
}

// A section of that type at that address; `size` 0: of any size. The lists of relocations may be told as one or as two.
bool ElfView::HasSection(uint32_t type, uint64_t address, uint64_t size) const {
  return std::any_of(sections_.begin(), sections_.end(), [&](const Elf64_Shdr& section) {
    if (section.sh_type != type || section.sh_addr != address || (section.sh_flags & SHF_ALLOC) == 0) return false;
    return size == 0 || section.sh_size == size || (type == SHT_RELA && section.sh_size < size);
  });
}

// Every section that is loaded lies in a segment that loads it to its address, with the rights it needs.
std::string ElfView::CheckAgainstSections() const {
  for (const Elf64_Shdr& section : sections_) {
    if ((section.sh_flags & SHF_ALLOC) == 0 || (section.sh_flags & SHF_TLS) != 0 || section.sh_type == SHT_NOBITS ||
        section.sh_type == SHT_NULL || section.sh_size == 0) {
      continue;
    }
    const uint32_t flags =
        ((section.sh_flags & SHF_WRITE) ? PF_W : 0U) | ((section.sh_flags & SHF_EXECINSTR) ? PF_X : 0U);
    uint64_t offset = 0;
    if (!FileOffset(section.sh_addr, section.sh_size, &offset) || offset != section.sh_offset ||
        !Mapped(section.sh_addr, section.sh_size, flags)) {
      return Damaged("its program headers and its section headers disagree");
    }
  }
  return {};
}

std::string ElfView::CheckRelocations(int64_t where, int64_t length) const {
  const uint64_t size = DynamicValue(length);
  if (size == 0) return {};
  uint64_t table = 0;
  if (size % sizeof(Elf64_Rela) != 0 || !FileOffset(DynamicValue(where), size, &table)) {
    return Damaged("its relocations lie outside the file");
  }
  const uint64_t symbols = DynamicSymbols().size() / sizeof(Elf64_Sym);
  const uint64_t relative = where == DT_RELA ? DynamicValue(DT_RELACOUNT) : 0;
  const uint64_t count = size / sizeof(Elf64_Rela);
  if (relative > count) return Damaged("it counts more relocations than it has");
  const Elf64_Phdr* segment = nullptr;  // the one that held the last target
  for (uint64_t i = 0; i < count; ++i) {
    Elf64_Rela entry;
    std::memcpy(&entry, content_.data() + table + i * sizeof entry, sizeof entry);
    // Nearly all of a large table: relative, and where the last one was.
    if (entry.r_info == kRelative && segment && entry.r_offset - segment->p_vaddr < segment->p_memsz) continue;
    const uint32_t type = ELF64_R_TYPE(entry.r_info);
    if (i < relative && type != kRelative) return Damaged("its relocations are not sorted as it says");
    if (type == kNone) continue;
    if (!sections_.empty() && ELF64_R_SYM(entry.r_info) >= std::max<uint64_t>(symbols, 1)) {
      return Damaged("a relocation names a symbol that is not there");
    }
    const auto holds = [&entry](const Elf64_Phdr& candidate) {
      return candidate.p_type == PT_LOAD && (candidate.p_flags & PF_W) != 0 && entry.r_offset >= candidate.p_vaddr &&
             entry.r_offset - candidate.p_vaddr < candidate.p_memsz;
    };
    const auto found = std::find_if(segments_.begin(), segments_.end(), holds);
    if (found == segments_.end()) return Damaged("a relocation lies outside the image's data");
    segment = &*found;
  }
  return {};
}

}  // namespace kernpack::host
