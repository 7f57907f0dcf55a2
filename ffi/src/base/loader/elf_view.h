// Bounds-checked reading of an ELF file's tables, as far as the loader needs it: is it whole, is it for this machine, what does it
// export. What the dynamic linker makes of its tables is not judged here: linkers differ in what they write, and that nobody
// changed a file since is what digests tell.
#ifndef KERNPACK_SRC_BASE_LOADER_ELF_VIEW_H_
#define KERNPACK_SRC_BASE_LOADER_ELF_VIEW_H_

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

  // Checks identification, and that headers, segments and sections lie in the file. Empty when all is well, else what is wrong.
  std::string Check();

  // Below only after a successful Check.
  const std::vector<Elf64_Phdr>& segments() const { return segments_; }
  const std::vector<Elf64_Dyn>& dynamic() const { return dynamic_; }
  // The value of the first entry with that tag, or 0.
  uint64_t DynamicValue(int64_t tag) const;
  // The dynamic string at that offset; empty when outside.
  std::string_view DynamicString(uint64_t offset) const;
  // The dynamic symbols. How many there are is told by the section headers, or by a hash table where those are stripped.
  std::span<const char> DynamicSymbols() const;
  // The content of the first note of that owner and type; empty where there is none.
  std::string_view Note(std::string_view owner, uint32_t type) const;

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
  // `size` bytes of the file at a virtual address; empty when no segment holds them.
  std::span<const char> At(uint64_t address, uint64_t size) const;
  uint64_t CountFromHash() const;
  uint64_t CountFromGnuHash() const;

  std::string CheckIdentification() const;
  std::string CheckSegments();
  std::string CheckSections();
  std::string CheckDynamic();

  std::span<const char> content_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;  // empty in a file stripped of them
  std::vector<Elf64_Dyn> dynamic_;
  std::string_view strings_;  // the dynamic string table
};

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_LOADER_ELF_VIEW_H_
