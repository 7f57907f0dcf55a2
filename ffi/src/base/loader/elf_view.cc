#include "base/loader/elf_view.h"

#include <algorithm>

#include "base/loader/image.h"

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
                                       : "isn't a shared object (ELF type " + std::to_string(header_.e_type) + ")";
  }
  if (header_.e_version != EV_CURRENT) return Damaged("the ELF header names an unknown version");
  if (problem = CheckSegments(); !problem.empty()) return problem;
  if (problem = CheckSections(); !problem.empty()) return problem;
  return CheckDynamic();
}

std::string ElfView::CheckIdentification() const {
  if (content_.empty()) return "is empty, expected a shared object";
  const size_t known = std::min<size_t>(content_.size(), SELFMAG);
  if (std::memcmp(content_.data(), ELFMAG, known) != 0) return "isn't an ELF shared object";
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
  for (size_t i = 0; i < segments_.size(); ++i) {
    Elf64_Phdr& segment = segments_[i];
    Read(header_.e_phoff + i * sizeof segment, &segment);
    if (segment.p_type != PT_LOAD && segment.p_type != PT_DYNAMIC && segment.p_type != PT_TLS) continue;
    if (segment.p_filesz == 0)
      continue;  // all zeros: lld names an address of thread-local memory, and nobody reads there
    if (!Inside(segment.p_offset, segment.p_filesz)) {
      return Incomplete("segment", segment.p_offset + segment.p_filesz, size);
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

std::span<const char> ElfView::At(uint64_t address, uint64_t size) const {
  uint64_t offset = 0;
  if (!FileOffset(address, size, &offset) || !Inside(offset, size)) return {};
  return content_.subspan(offset, size);
}

std::string ElfView::CheckDynamic() {
  const auto found = std::find_if(segments_.begin(), segments_.end(),
                                  [](const Elf64_Phdr& segment) { return segment.p_type == PT_DYNAMIC; });
  if (found == segments_.end()) return "is statically linked, expected a shared object; link it with -shared";
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= found->p_filesz; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    if (!Read(found->p_offset + at, &entry) || entry.d_tag == DT_NULL) break;
    dynamic_.push_back(entry);
  }
  if ((DynamicValue(DT_FLAGS_1) & DF_1_PIE) != 0) return "is a program, expected a shared object; link it with -shared";
  const std::span<const char> strings = At(DynamicValue(DT_STRTAB), DynamicValue(DT_STRSZ));
  strings_ = {strings.data(), strings.size()};
  return {};
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
  const uint64_t count = std::max(CountFromHash(), CountFromGnuHash());
  return At(DynamicValue(DT_SYMTAB), std::min<uint64_t>(count, content_.size()) * sizeof(Elf64_Sym));
}

std::string_view ElfView::Note(std::string_view owner, uint32_t type) const {
  constexpr auto kPadded = [](uint64_t size) { return (size + 3) / 4 * 4; };
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_NOTE || !Inside(segment.p_offset, segment.p_filesz)) continue;
    const uint64_t end = segment.p_offset + segment.p_filesz;
    Elf64_Nhdr head;
    for (uint64_t at = segment.p_offset; at + sizeof head <= end && Read(at, &head);) {
      const uint64_t name = at + sizeof head;
      const uint64_t content = name + kPadded(head.n_namesz);
      if (content > end || head.n_descsz > end - content) break;
      const std::string_view found(content_.data() + name, head.n_namesz);
      if (head.n_type == type && found.substr(0, found.find('\0')) == owner) {
        return {content_.data() + content, head.n_descsz};
      }
      at = content + kPadded(head.n_descsz);
    }
  }
  return {};
}

uint64_t ElfView::CountFromHash() const {
  uint32_t head[2];  // buckets, symbols
  const std::span<const char> table = At(DynamicValue(DT_HASH), sizeof head);
  if (table.empty() || DynamicValue(DT_HASH) == 0) return 0;
  std::memcpy(head, table.data(), sizeof head);
  return head[1];
}

// The last symbol is the end of the chain that begins last.
uint64_t ElfView::CountFromGnuHash() const {
  uint32_t head[4];  // buckets, first symbol, words of the filter, shift
  const uint64_t where = DynamicValue(DT_GNU_HASH);
  const std::span<const char> table = At(where, sizeof head);
  if (table.empty() || where == 0) return 0;
  std::memcpy(head, table.data(), sizeof head);
  const uint64_t buckets_at = where + sizeof head + uint64_t{head[2]} * sizeof(uint64_t);
  const std::span<const char> buckets = At(buckets_at, uint64_t{head[0]} * sizeof(uint32_t));
  uint64_t last = 0;
  for (size_t at = 0; at + sizeof(uint32_t) <= buckets.size(); at += sizeof(uint32_t)) {
    uint32_t symbol;
    std::memcpy(&symbol, buckets.data() + at, sizeof symbol);
    last = std::max<uint64_t>(last, symbol);
  }
  if (last < head[1]) return head[1];  // nothing but imports
  const uint64_t chains_at = buckets_at + buckets.size();
  for (;; ++last) {
    const std::span<const char> link = At(chains_at + (last - head[1]) * sizeof(uint32_t), sizeof(uint32_t));
    if (link.empty()) return 0;
    uint32_t hash;
    std::memcpy(&hash, link.data(), sizeof hash);
    if ((hash & 1) != 0) return last + 1;
  }
}

}  // namespace kernpack::host
