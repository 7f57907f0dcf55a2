#include "base/loader/pe_view.h"

#include "base/loader/image.h"

namespace kernpack::host {
namespace {

#if defined(__aarch64__)
constexpr uint16_t kMachine = 0xaa64;
constexpr const char* kMachineName = "aarch64";
#else
constexpr uint16_t kMachine = 0x8664;
constexpr const char* kMachineName = "x86-64";
#endif
constexpr size_t kFileHeader = 24;  // with the signature before it
constexpr size_t kSectionHeader = 40;
constexpr uint32_t kExecutable = 0x20000000;

std::string MachineName(uint16_t machine) {
  switch (machine) {
    case 0x8664:
      return "x86-64";
    case 0x14c:
      return "i386";
    case 0xaa64:
      return "aarch64";
    default:
      return "machine number " + std::to_string(machine);
  }
}

}  // namespace

std::string PeView::Check() {
  if (content_.empty()) return "is empty, expected a shared object";
  const std::string_view text(content_.data(), content_.size());
  if (text.starts_with("\x7f"
                       "ELF"))
    return "is a shared object for Linux (ELF); install the build for Windows";
  if (!text.starts_with("MZ")) return "isn't a DLL";
  std::string problem = CheckHeaders();
  return problem.empty() ? CheckSections() : problem;
}

std::string PeView::CheckHeaders() {
  const size_t size = content_.size();
  const size_t begin = Get<uint32_t>(0x3c);
  if (size < 0x40 || begin > size || size - begin < kFileHeader) {
    return Incomplete("PE header", std::max<size_t>(begin, 0x40) + kFileHeader, size);
  }
  if (Get<uint32_t>(begin) != 0x4550) return "isn't a DLL";  // "PE"
  const uint16_t machine = Get<uint16_t>(begin + 4);
  if (machine != kMachine) {
    return "is built for " + MachineName(machine) + ", this process runs on " + kMachineName +
           "; install the build for this machine";
  }
  constexpr uint16_t kDll = 0x2000;
  if ((Get<uint16_t>(begin + 22) & kDll) == 0) return "is a program, expected a shared object; link it with -shared";
  optional_ = begin + kFileHeader;
  constexpr uint16_t kPe64 = 0x20b;
  const size_t optional_size = Get<uint16_t>(begin + 20);
  const size_t count = Get<uint16_t>(begin + 6);
  const size_t end = optional_ + optional_size + count * kSectionHeader;
  if (end > size) return Incomplete("section headers", end, size);
  if (optional_size < 112 || Get<uint16_t>(optional_) != kPe64) {
    return "is damaged: its optional header is of an unknown kind; copy or download it again";
  }
  for (size_t i = 0; i < count; ++i) {
    const size_t at = optional_ + optional_size + i * kSectionHeader;
    sections_.push_back(
        {Get<uint32_t>(at + 12), Get<uint32_t>(at + 16), Get<uint32_t>(at + 20), Get<uint32_t>(at + 36)});
  }
  return {};
}

std::string PeView::CheckSections() {
  for (const Section& section : sections_) {
    if (section.bytes == 0) continue;  // all zeros in memory
    const uint64_t end = uint64_t{section.offset} + section.bytes;
    if (end > content_.size()) return Incomplete("section", end, content_.size());
  }
  return {};
}

size_t PeView::Offset(uint32_t address) const {
  for (const Section& section : sections_) {
    if (address >= section.address && address - section.address < section.bytes) {
      return size_t{section.offset} + (address - section.address);
    }
  }
  return 0;
}

bool PeView::IsCode(uint32_t address) const {
  return std::any_of(sections_.begin(), sections_.end(), [address](const Section& section) {
    return (section.flags & kExecutable) != 0 && address >= section.address &&
           address - section.address < section.bytes;
  });
}

size_t PeView::Directory(size_t number, size_t bytes) const {
  if (Get<uint32_t>(optional_ + 108) <= number) return 0;
  const size_t at = Offset(Get<uint32_t>(optional_ + 112 + number * 8));
  return at != 0 && at <= content_.size() && bytes <= content_.size() - at ? at : 0;
}

std::string_view PeView::TextAt(uint32_t address) const {
  const size_t at = Offset(address);
  if (at == 0 || at >= content_.size()) return {};
  const std::string_view rest(content_.data() + at, content_.size() - at);
  const size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

}  // namespace kernpack::host
