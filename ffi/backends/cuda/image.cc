#include "backends/cuda/image.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>

#include "backends/cuda/text.h"

namespace kernpack::cuda {
namespace {

constexpr uint32_t kFatbinMagic = 0xba55ed50;
constexpr uint16_t kElfMachineCuda = 190;
constexpr uint16_t kFatbinPtx = 1;
constexpr uint16_t kFatbinElf = 2;
constexpr uint64_t kFatbinExact = 0x100000;   // sm_90a
constexpr uint64_t kFatbinFamily = 0x200000;  // sm_100f

// Reads a little-endian number; 0 beyond the end.
template <class T>
T Read(std::string_view data, uint64_t offset) {
  T value{};
  if (offset <= data.size() && data.size() - offset >= sizeof value) {
    std::memcpy(&value, data.data() + offset, sizeof value);
  }
  return value;
}

bool IsElf(std::string_view image) {
  return image.starts_with(
      "\x7f"
      "ELF");
}
bool IsFatbin(std::string_view image) { return Read<uint32_t>(image, 0) == kFatbinMagic; }

// NUL-terminated text within `data`.
std::string_view Text(std::string_view data, uint64_t offset) {
  if (offset >= data.size()) return {};
  const std::string_view rest = data.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

// The architecture is in e_flags: bits 8 to 15 since version 8 of this ABI (CUDA 13), the lowest 8 before. Neither says
// whether it is sm_90 or sm_90a; that is left to the driver.
Arch CubinArch(std::string_view elf) {
  const auto flags = Read<uint32_t>(elf, 48);
  Arch arch;
  arch.number = static_cast<int>(Read<uint8_t>(elf, 8) >= 8 ? flags >> 8 & 0xff : flags & 0xff);
  return arch;
}

// A kernel's code is a section ".text.<name>".
void CubinKernels(std::string_view elf, std::vector<std::string>* out) {
  const auto table = Read<uint64_t>(elf, 40);
  const auto entry_size = Read<uint16_t>(elf, 58);
  const auto count = Read<uint16_t>(elf, 60);
  const auto names_index = Read<uint16_t>(elf, 62);
  if (entry_size < 64) return;
  const auto names = Read<uint64_t>(elf, table + uint64_t{names_index} * entry_size + 24);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t name_offset = names + Read<uint32_t>(elf, table + i * entry_size);
    const std::string_view name = Text(elf, name_offset);
    if (name.starts_with(".text.")) out->emplace_back(name.substr(6));
  }
}

bool ReadCubin(std::string_view elf, Image* out, std::string* why) {
  if (elf.size() < 64 || Read<uint8_t>(elf, 4) != 2 || Read<uint16_t>(elf, 18) != kElfMachineCuda) {
    *why = "expected a cubin (64-bit ELF for CUDA), got another kind of ELF file or a truncated one";
    return false;
  }
  const uint64_t end = Read<uint64_t>(elf, 40) + uint64_t{Read<uint16_t>(elf, 58)} * Read<uint16_t>(elf, 60);
  if (end > elf.size()) {
    *why = Format("the cubin is truncated: its section table ends at byte %llu, the image at %zu",
                  static_cast<unsigned long long>(end), elf.size());
    return false;
  }
  out->archs.push_back(CubinArch(elf));
  CubinKernels(elf, &out->kernels);
  return true;
}

bool ReadFatbin(std::string_view image, Image* out, std::string* why) {
  const auto header = Read<uint16_t>(image, 6);
  const auto payload = Read<uint64_t>(image, 8);
  if (header < 16 || payload > image.size() || header > image.size() - payload) {
    *why = Format("the fatbin is truncated: it says %llu bytes, and there are %zu",
                  static_cast<unsigned long long>(header) + payload, image.size());
    return false;
  }
  std::string_view rest = image.substr(header, payload);
  while (rest.size() >= 48) {
    const auto kind = Read<uint16_t>(rest, 0);
    const auto entry_header = Read<uint32_t>(rest, 4);
    const auto size = Read<uint64_t>(rest, 8);
    if (entry_header < 48 || entry_header > rest.size() || size > rest.size() - entry_header) break;
    if (kind == kFatbinPtx || kind == kFatbinElf) {
      Arch arch;
      arch.number = static_cast<int>(Read<uint32_t>(rest, 28));
      arch.ptx = kind == kFatbinPtx;
      const auto flags = Read<uint64_t>(rest, 40);
      if ((flags & kFatbinExact) != 0) arch.suffix = 'a';
      if ((flags & kFatbinFamily) != 0) arch.suffix = 'f';
      out->archs.push_back(arch);
      const std::string_view code = rest.substr(entry_header, size);
      if (IsElf(code)) CubinKernels(code, &out->kernels);
    }
    rest.remove_prefix(entry_header + size);
  }
  std::sort(out->kernels.begin(), out->kernels.end());
  out->kernels.erase(std::unique(out->kernels.begin(), out->kernels.end()), out->kernels.end());
  return true;
}

// ".version 8.3" is 83.
int PtxVersion(std::string_view text) {
  constexpr std::string_view kVersion = ".version ";
  const size_t at = text.find(kVersion);
  if (at == std::string_view::npos || text.size() < at + kVersion.size() + 3) return 0;
  const char* digits = text.data() + at + kVersion.size();
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return is_digit(digits[0]) && is_digit(digits[2]) ? (digits[0] - '0') * 10 + (digits[2] - '0') : 0;
}

bool ReadPtx(std::string_view text, Image* out, std::string* why) {
  constexpr std::string_view kTarget = ".target sm_";
  const size_t target = text.find(kTarget);
  if (target == std::string_view::npos) {
    *why = "expected PTX, got text without a .target sm_... line";
    return false;
  }
  const std::string_view name = text.substr(target + kTarget.size());
  Arch arch;
  arch.ptx = true;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), arch.number);
  if (error != std::errc()) {
    *why = "the PTX's .target line names no architecture such as sm_90";
    return false;
  }
  const auto used = static_cast<size_t>(end - name.data());
  if (used < name.size() && (name[used] == 'a' || name[used] == 'f')) arch.suffix = name[used];
  out->archs.push_back(arch);
  out->ptx_version = PtxVersion(text);
  constexpr std::string_view kEntry = ".entry ";
  for (size_t at = text.find(kEntry); at != std::string_view::npos; at = text.find(kEntry, at + 1)) {
    const std::string_view rest = text.substr(at + kEntry.size());
    out->kernels.emplace_back(rest.substr(0, rest.find_first_of(" (\t\r\n{")));
  }
  return true;
}

}  // namespace

bool ReadImage(std::string_view image, std::string_view format, Image* out, std::string* why) {
  if (image.empty()) {
    *why = "the image is empty";
    return false;
  }
  if (IsElf(image) && (format.empty() || format == "cubin")) {
    out->kind = Image::Kind::kCubin;
    return ReadCubin(image, out, why);
  }
  if (IsFatbin(image) && (format.empty() || format == "fatbin")) {
    out->kind = Image::Kind::kFatbin;
    return ReadFatbin(image, out, why);
  }
  if (format == "ptx" || (format.empty() && image.find(".target") != std::string_view::npos)) {
    out->kind = Image::Kind::kPtx;
    return ReadPtx(image, out, why);
  }
  if (!format.empty() && format != "cubin" && format != "fatbin") {
    *why = Format("unknown format '%.*s'; expected cubin, fatbin, ptx or cu",
                  static_cast<int>(std::min<size_t>(format.size(), 40)), format.data());
  } else {
    *why = Format("expected %.*s, got an image in another format", static_cast<int>(format.size()), format.data());
    if (format.empty()) *why = "expected a cubin, a fatbin or PTX, got an unrecognised image";
  }
  return false;
}

}  // namespace kernpack::cuda
