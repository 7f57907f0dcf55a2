#include "binary_cache.h"

#include <unistd.h>

#include <algorithm>

#include "backends/disk_cache.h"
#include "shared/sha256.h"

namespace kernpack::opencl {
namespace {

constexpr const char* kPart = "opencl";
constexpr std::string_view kMagic = "kernpack.opencl.3\n";  // a new number when what a key covers changes

// True if a text may include a file: an "include" or "embed" of the preprocessor, under any of its spellings, or of an option.
bool MayInclude(std::string_view text) {
  // # %: ??= __has_include, a comment's end, an option, a continued line
  constexpr std::string_view kBefore = "#:=_/-\\";
  for (const std::string_view word : {std::string_view("include"), std::string_view("embed")}) {
    for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
      const size_t before = text.substr(0, at).find_last_not_of(" \t\n\r");
      if (before != std::string_view::npos && kBefore.find(text[before]) != std::string_view::npos) return true;
    }
  }
  return false;
}

// Variables that drivers' compilers read, sorted.
std::string Environment() {
  std::vector<std::string_view> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    for (const std::string_view prefix : {"POCL_", "IGC_", "RUSTICL_", "AMD_OCL_", "CUDA_"}) {
      if (variable.substr(0, prefix.size()) == prefix) found.push_back(variable);
    }
  }
  std::sort(found.begin(), found.end());
  std::string text;
  for (const std::string_view variable : found) text.append(variable).push_back('\0');
  return text;
}

}  // namespace

std::string CacheKey(const DeviceFacts& device, std::string_view source, std::string_view options) {
  if (MayInclude(source) || MayInclude(options)) return "";
  const std::string environment = Environment();
  std::string text(kMagic);
  for (const std::string_view part :
       {std::string_view(device.platform_name), std::string_view(device.platform_version),
        std::string_view(device.vendor), std::string_view(device.name), std::string_view(device.version),
        std::string_view(device.driver_version), std::string_view(environment), options, source}) {
    text += std::to_string(part.size()) + ":";  // lengths keep neighbours apart
    text += part;
  }
  return Sha256Hex(text.data(), text.size());
}

std::vector<unsigned char> ReadCache(const std::string& key) {
  const std::string folder = disk_cache::Folder(kPart);
  if (key.empty() || !disk_cache::IsPrivateFolder(folder)) return {};
  const std::string program = disk_cache::ReadEntry(folder + "/" + key + ".bin", kMagic);
  return {program.begin(), program.end()};
}

void WriteCache(const std::string& key, const std::vector<unsigned char>& program) {
  const std::string folder = disk_cache::Folder(kPart);
  if (folder.empty() || key.empty() || program.empty() || !disk_cache::MakeFolder(folder)) return;
  static_cast<void>(disk_cache::WriteEntry(folder + "/" + key + ".bin", kMagic,
                                           {reinterpret_cast<const char*>(program.data()), program.size()}));
}

}  // namespace kernpack::opencl
