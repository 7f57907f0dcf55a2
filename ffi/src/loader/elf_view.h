// Bounds-checked reading of an ELF file's tables.
#ifndef KERNPACK_SRC_LOADER_ELF_VIEW_H_
#define KERNPACK_SRC_LOADER_ELF_VIEW_H_

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernpack::host {

// "is damaged: <part>; ..."
std::string Damaged(const std::string& part);

// The file is untrusted: every accessor checks, nothing is read in place (no alignment is assumed).
class ElfView {
 public:
  explicit ElfView(std::span<const char> content) : content_(content) {}

  // Checks identification, headers and segments. Empty when all is well, else what is wrong.
  std::string Check();

  // Below only after a successful Check.
  const std::vector<Elf64_Phdr>& segments() const { return segments_; }
  const std::vector<Elf64_Dyn>& dynamic() const { return dynamic_; }
  // The value of the first entry with that tag, or 0.
  uint64_t DynamicValue(int64_t tag) const;
  // The dynamic string at that offset; empty when outside.
  std::string_view DynamicString(uint64_t offset) const;
  // The dynamic symbols; empty when the file has no section table that says how many there are.
  std::span<const char> DynamicSymbols() const;

 private:
  template <class T>
  bool Read(uint64_t offset, T* out) const {
    if (!Inside(offset, sizeof(T))) return false;
    std::memcpy(out, content_.data() + offset, sizeof(T));
    return true;
  }
  bool Inside(uint64_t offset, uint64_t size) const {
    return offset <= content_.size() && size <= content_.size() - offset;
  }
  // File offset of `size` bytes at a virtual address, or false when no segment holds them in the file.
  bool FileOffset(uint64_t address, uint64_t size, uint64_t* offset) const;
  // Whether some segment with all these flags (PF_*) holds the bytes in memory; with `whole_pages` up to the end of its
  // last page.
  bool Mapped(uint64_t address, uint64_t size, uint32_t flags = 0, bool whole_pages = false) const;

  std::string CheckIdentification() const;
  std::string CheckSegments();
  std::string CheckSections();
  std::string CheckDynamic();
  // elf_consistency.cc: what the dynamic linker would trust blindly.
  std::string CheckEntries() const;
  std::string CheckTables() const;
  std::string CheckAgainstSections() const;
  std::string CheckRelocations(int64_t where, int64_t length) const;
  bool HasDynamic(int64_t tag) const;
  bool HasSection(uint32_t type, uint64_t address, uint64_t size) const;

  std::span<const char> content_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;  // empty in a file stripped of them
  std::vector<Elf64_Dyn> dynamic_;
  std::string_view strings_;  // the dynamic string table
};

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_LOADER_ELF_VIEW_H_
