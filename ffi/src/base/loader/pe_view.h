// Reads a DLL's headers, exports and imports from its bytes: the format PE, as Microsoft describes it.
#ifndef KERNPACK_SRC_BASE_LOADER_PE_VIEW_H_
#define KERNPACK_SRC_BASE_LOADER_PE_VIEW_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernpack::host {

class PeView {
 public:
  explicit PeView(std::span<const char> content) : content_(content) {}

  // Why the content isn't a complete DLL for this machine; empty if it is one. To be called first.
  std::string Check();

  // visit(name, is_code) for each exported name, until it returns false. Names lie in the content.
  template <class Visit>
  void ForEachExport(const Visit& visit) const {
    const size_t table = Directory(0, kExportTable);
    if (table == 0) return;
    const size_t count = std::min<size_t>(Get<uint32_t>(table + 24), content_.size() / sizeof(uint32_t));
    const size_t names = Offset(Get<uint32_t>(table + 32));
    const size_t numbers = Offset(Get<uint32_t>(table + 36));
    const size_t addresses = Offset(Get<uint32_t>(table + 28));
    for (size_t i = 0; i < count; ++i) {
      const std::string_view name = TextAt(Get<uint32_t>(names + i * sizeof(uint32_t)));
      const uint16_t number = Get<uint16_t>(numbers + i * sizeof(uint16_t));
      const uint32_t address = Get<uint32_t>(addresses + number * sizeof(uint32_t));
      if (!name.empty() && !visit(name, IsCode(address))) return;
    }
  }

  // visit(library) for each library that it needs.
  template <class Visit>
  void ForEachImport(const Visit& visit) const {
    size_t at = Directory(1, kImportEntry);
    for (; at != 0 && Get<uint32_t>(at + 12) != 0; at += kImportEntry) {
      const std::string_view name = TextAt(Get<uint32_t>(at + 12));
      if (!name.empty()) visit(name);
    }
  }

  // How much of the file Windows maps as headers, and where in them it writes the address that it moved the DLL to.
  size_t HeaderBytes() const { return Get<uint32_t>(optional_ + 60); }
  size_t BaseOffset() const { return optional_ + 24; }

 private:
  static constexpr size_t kExportTable = 40, kImportEntry = 20;
  struct Section {
    uint32_t address, bytes, offset, flags;
  };

  std::string CheckHeaders();
  std::string CheckSections();

  // Zero where it isn't inside the content.
  template <class T>
  T Get(size_t at) const {
    T value{};
    if (at <= content_.size() && sizeof value <= content_.size() - at)
      std::memcpy(&value, content_.data() + at, sizeof value);
    return value;
  }
  // Of an address, relative to the DLL's begin, in the content; 0 where the content doesn't have it.
  size_t Offset(uint32_t address) const;
  bool IsCode(uint32_t address) const;
  // Of a table that the optional header names, if `bytes` of it are inside the content; else 0.
  size_t Directory(size_t number, size_t bytes) const;
  std::string_view TextAt(uint32_t address) const;

  std::span<const char> content_;
  size_t optional_ = 0;
  std::vector<Section> sections_;
};

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_LOADER_PE_VIEW_H_
