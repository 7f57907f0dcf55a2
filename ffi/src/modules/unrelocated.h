// Function tables that the dynamic linker leaves alone: their pointers are link-time addresses (docs/abi.md, "Tables without
// relocations").
#ifndef KERNPACK_SRC_MODULES_UNRELOCATED_H_
#define KERNPACK_SRC_MODULES_UNRELOCATED_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <kernpack/host/host.h>

#include "base/loader/platform.h"

namespace kernpack::host {

// Where the linker placed the module's own table, if its functions are such a table; NULL otherwise. The last spare field: later minors
// give the first ones a meaning. `module`: a table whose struct_size is checked.
inline const void* LinkedAt(const KpModule& module) { return *(std::end(module.spare) - 1); }

// A line of such a table, with pointers in place of the addresses. definition.info points to `info`, so a line is never copied.
struct RelocatedLine {
  KpFunctionDef definition;
  KpFunctionInfo info;
  RelocatedLine* next;
};

// Safe for threads.
class UnrelocatedTable {
 public:
  // NULL with ImportError raised where the table isn't one of the library at `handle`. `where` is immortal.
  static std::unique_ptr<const UnrelocatedTable> Make(const KpModule& module, void* handle, const char* where);
  ~UnrelocatedTable();
  UnrelocatedTable(const UnrelocatedTable&) = delete;
  UnrelocatedTable& operator=(const UnrelocatedTable&) = delete;

  size_t size() const { return size_; }
  // The lines of that name, [begin, end): lines are in the order of their names.
  std::pair<size_t, size_t> Find(std::string_view name) const;
  // The line, which lives as long as the table. NULL with ImportError raised where one of its addresses isn't in the file.
  const KpFunctionDef* Read(size_t line) const;
  // All lines. 0, or -1 raised as of Read.
  int ReadAll(std::vector<RelocatedLine>* out) const;

 private:
  UnrelocatedTable(const KpFunctionDef* lines, size_t size, const char* where, platform::Mapping mapping)
      : lines_(lines), size_(size), where_(where), mapping_(std::move(mapping)) {}

  int ReadInto(size_t line, RelocatedLine* out) const;
  int ReadInfo(const char* name, const KpFunctionInfo* linked, KpFunctionInfo* out) const;
  // Below, equal to or above 0, as the line's name is to `name`. A damaged one is below.
  int Compare(size_t line, std::string_view name) const;
  // The bytes at a link-time address that are in the file; none where it isn't.
  std::string_view BytesAt(const void* linked, bool code = false) const;
  // Replaces a link-time address by a pointer to a text; false where the file has no text there. NULL stays.
  bool PlaceText(const char** text) const;
  int RaiseOutside(const char* name, const char* field) const;

  const KpFunctionDef* lines_;
  size_t size_;
  const char* where_;
  platform::Mapping mapping_;
  mutable std::atomic<RelocatedLine*> read_{nullptr};
};

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_MODULES_UNRELOCATED_H_
