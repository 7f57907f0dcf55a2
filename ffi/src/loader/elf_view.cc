#include "loader/elf_view.h"

#include <algorithm>

namespace kernpack::host {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
constexpr const char* kMachineName = "x86-64";
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
constexpr const char* kMachineName = "aarch64";
#else
#error "kernpack: name this machine's ELF number here"
#endif

std::string MachineName(uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_386:
      return "i386";
    case EM_AARCH64:
      return "aarch64";
    case EM_ARM:
      return "arm";
    case EM_RISCV:
      return "riscv";
    case EM_PPC64:
      return "ppc64";
    case EM_S390:
      return "s390";
    case EM_CUDA:
      return "cuda";
    default:
      return "machine number " + std::to_string(machine);
  }
}

std::string Incomplete(const char* part, uint64_t end, uint64_t size) {
  return std::string("is truncated or damaged: its ") + part + " would end at byte " + std::to_string(end) + " of " +
         std::to_string(size) + "; copy or download it again";
}

}  // namespace

std::string Damaged(const std::string& part) { return "is damaged: " + part + "; copy or download it again"; }

std::string ElfView::Check() {
  std::string problem = CheckIdentification();
  if (!problem.empty()) return problem;
  if (!Read(0, &header_)) return Incomplete("ELF header", sizeof header_, content_.size());
  if (header_.e_machine != kMachine) {
    return "is built for " + MachineName(header_.e_machine) + ", this process runs on " + kMachineName +
           "; install the build for this machine";
  }
  if (header_.e_type != ET_DYN) {
    return header_.e_type == ET_REL    ? "is an object file, expected a shared object; link it with -shared"
           : header_.e_type == ET_EXEC ? "is a program, expected a shared object; link it with -shared"
                                       : "is no shared object (ELF type " + std::to_string(header_.e_type) + ")";
  }
  if (header_.e_version != EV_CURRENT) return Damaged("the ELF header names an unknown version");
  if (problem = CheckSegments(); !problem.empty()) return problem;
  if (problem = CheckSections(); !problem.empty()) return problem;
  return CheckDynamic();
}

std::string ElfView::CheckIdentification() const {
  if (content_.empty()) return "is empty, expected a shared object";
  const size_t known = std::min<size_t>(content_.size(), SELFMAG);
  if (std::memcmp(content_.data(), ELFMAG, known) != 0) return "is no ELF shared object";
  if (content_.size() < EI_NIDENT) return Incomplete("ELF header", sizeof header_, content_.size());
  if (content_[EI_CLASS] == ELFCLASS32)
    return "is a 32-bit object, this process is 64-bit; install the build for this machine";
  if (content_[EI_CLASS] != ELFCLASS64) return Damaged("the ELF header names an unknown class");
  if (content_[EI_DATA] == ELFDATA2MSB)
    return "is big-endian, this machine is little-endian; install the build for this machine";
  if (content_[EI_DATA] != ELFDATA2LSB) return Damaged("the ELF header names an unknown byte order");
  if (content_[EI_VERSION] != EV_CURRENT) return Damaged("the ELF header names an unknown version");
  if (content_[EI_OSABI] != ELFOSABI_NONE && content_[EI_OSABI] != ELFOSABI_GNU) {
    return "is built for another operating system (ELF OS/ABI " + std::to_string(content_[EI_OSABI]) + ")";
  }
  return {};
}

std::string ElfView::CheckSegments() {
  if (header_.e_phentsize != sizeof(Elf64_Phdr) || header_.e_phnum == 0) return Damaged("it has no program headers");
  const uint64_t size = content_.size();
  const uint64_t table = uint64_t{header_.e_phnum} * sizeof(Elf64_Phdr);
  if (!Inside(header_.e_phoff, table)) return Incomplete("program headers", header_.e_phoff + table, size);
  segments_.resize(header_.e_phnum);
  uint64_t previous_end = 0;
  for (size_t i = 0; i < segments_.size(); ++i) {
    Elf64_Phdr& segment = segments_[i];
    Read(header_.e_phoff + i * sizeof segment, &segment);
    if (segment.p_type == PT_NULL) continue;
    if (!Inside(segment.p_offset, segment.p_filesz)) {
      return Incomplete("segment", segment.p_offset + segment.p_filesz, size);
    }
    const std::string which = "program header " + std::to_string(i);
    if (segment.p_type == PT_INTERP) return "is a program, expected a shared object; link it with -shared";
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_align == 0 || (segment.p_align & (segment.p_align - 1)) != 0 || segment.p_filesz > segment.p_memsz ||
        (segment.p_vaddr - segment.p_offset) % segment.p_align != 0 || segment.p_align > (uint64_t{1} << 30)) {
      return Damaged(which + " contradicts itself");
    }
    if (segment.p_vaddr < previous_end || segment.p_memsz > (uint64_t{1} << 40) ||
        segment.p_vaddr > (uint64_t{1} << 40)) {
      return Damaged(which + " lies outside the image");
    }
    previous_end = segment.p_vaddr + segment.p_memsz;
  }
  // What the dynamic linker reads or protects must be mapped by a PT_LOAD.
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type == PT_TLS &&
        (segment.p_filesz > segment.p_memsz || segment.p_memsz > (uint64_t{1} << 32) ||
         segment.p_align > (uint64_t{1} << 20) || (segment.p_align & (segment.p_align - 1)) != 0)) {
      return Damaged("its thread-local segment contradicts itself");
    }
    if (segment.p_type == PT_DYNAMIC || segment.p_type == PT_TLS || segment.p_type == PT_GNU_RELRO) {
      const bool whole_pages =
          segment.p_type == PT_GNU_RELRO;  // is protected by pages, and lld names the last one whole
      const uint64_t bytes = segment.p_type == PT_TLS ? segment.p_filesz : segment.p_memsz;
      if (segment.p_type == PT_TLS && bytes == 0) continue;  // all zeros: lld names an address, and nobody reads there
      if (!Mapped(segment.p_vaddr, bytes, 0, whole_pages)) {
        return Damaged("a program header names addresses outside the image");
      }
    }
  }
  return {};
}

std::string ElfView::CheckSections() {
  if (header_.e_shoff == 0 || header_.e_shnum == 0) return {};
  if (header_.e_shentsize != sizeof(Elf64_Shdr)) return Damaged("its section headers have an unknown size");
  const uint64_t table = uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr);
  if (!Inside(header_.e_shoff, table)) return Incomplete("section headers", header_.e_shoff + table, content_.size());
  sections_.resize(header_.e_shnum);
  for (size_t i = 0; i < sections_.size(); ++i) {
    Elf64_Shdr& section = sections_[i];
    Read(header_.e_shoff + i * sizeof section, &section);
    if (section.sh_type == SHT_NOBITS || section.sh_type == SHT_NULL) continue;
    if (!Inside(section.sh_offset, section.sh_size)) {
      return Incomplete("section", section.sh_offset + section.sh_size, content_.size());
    }
  }
  return {};
}

bool ElfView::FileOffset(uint64_t address, uint64_t size, uint64_t* offset) const {
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    const uint64_t into = address - segment.p_vaddr;
    if (into > segment.p_filesz || size > segment.p_filesz - into) continue;
    *offset = segment.p_offset + into;
    return true;
  }
  return false;
}

bool ElfView::Mapped(uint64_t address, uint64_t size, uint32_t flags, bool whole_pages) const {
  return std::any_of(segments_.begin(), segments_.end(), [&](const Elf64_Phdr& segment) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr || (segment.p_flags & flags) != flags) return false;
    const uint64_t into = address - segment.p_vaddr, end = segment.p_vaddr + segment.p_memsz;
    const uint64_t mapped = segment.p_memsz + (whole_pages ? -end % segment.p_align : 0);
    return into <= mapped && size <= mapped - into;
  });
}

std::string ElfView::CheckDynamic() {
  const auto found = std::find_if(segments_.begin(), segments_.end(),
                                  [](const Elf64_Phdr& segment) { return segment.p_type == PT_DYNAMIC; });
  if (found == segments_.end()) return "is statically linked, expected a shared object; link it with -shared";
  uint64_t offset = 0;
  if (!FileOffset(found->p_vaddr, found->p_filesz, &offset) || offset != found->p_offset) {
    return Damaged("its dynamic section lies outside the image");
  }
  for (uint64_t at = 0;; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    if (at + sizeof entry > found->p_filesz || !Read(offset + at, &entry)) {
      return Damaged("its dynamic section has no end");
    }
    if (entry.d_tag == DT_NULL) break;
    dynamic_.push_back(entry);
  }
  uint64_t strings = 0;
  if (!FileOffset(DynamicValue(DT_STRTAB), DynamicValue(DT_STRSZ), &strings) || DynamicValue(DT_SYMTAB) == 0) {
    return Damaged("it has no dynamic symbols");
  }
  strings_ = {content_.data() + strings, DynamicValue(DT_STRSZ)};
  if (DynamicValue(DT_TEXTREL) != 0 || (DynamicValue(DT_FLAGS) & DF_TEXTREL) != 0) {
    return "has relocations in its code; compile it with -fPIC";
  }
  for (const Elf64_Dyn& entry : dynamic_) {
    if ((entry.d_tag == DT_NEEDED || entry.d_tag == DT_SONAME || entry.d_tag == DT_RUNPATH ||
         entry.d_tag == DT_RPATH) &&
        entry.d_un.d_val >= strings_.size()) {
      return Damaged("its dynamic section names a string outside the string table");
    }
  }
  return CheckTables();
}

uint64_t ElfView::DynamicValue(int64_t tag) const {
  for (const Elf64_Dyn& entry : dynamic_) {
    if (entry.d_tag == tag) return entry.d_un.d_val;
  }
  return 0;
}

std::string_view ElfView::DynamicString(uint64_t offset) const {
  if (offset >= strings_.size()) return {};
  return {strings_.data() + offset, strnlen(strings_.data() + offset, strings_.size() - offset)};
}

std::span<const char> ElfView::DynamicSymbols() const {
  for (const Elf64_Shdr& section : sections_) {
    if (section.sh_type == SHT_DYNSYM) return content_.subspan(section.sh_offset, section.sh_size);
  }
  return {};
}

}  // namespace kernpack::host
