#include "binary_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "shared/sha256.h"

namespace kernpack::opencl {
namespace {

constexpr std::string_view kMagic = "kernpack.opencl.3\n";  // a new number when what a key covers changes

// Where kernpack.load_inline keeps what it compiles, too: KERNPACK_CACHE_DIR, else XDG_CACHE_HOME or ~/.cache. Empty: nowhere.
std::string Folder() {
  const auto under = [](const char* variable, const char* below) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value != 0 ? std::string(value) + below : std::string();
  };
  if (std::string named = under("KERNPACK_CACHE_DIR", "/opencl"); !named.empty()) return named;
  if (std::string cache = under("XDG_CACHE_HOME", "/kernpack/opencl"); !cache.empty()) return cache;
  return under("HOME", "/.cache/kernpack/opencl");
}

// True if only this user (and root, who doesn't need a cache to do harm) could have written there.
bool IsPrivate(const struct stat& found) {
  return (found.st_uid == geteuid() || found.st_uid == 0) && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// With the folders above it. False when it is not this user's alone and cannot be made so.
bool MakeFolder(const std::string& folder) {
  for (size_t end = folder.find('/', 1); end != std::string::npos; end = folder.find('/', end + 1)) {
    mkdir(folder.substr(0, end).c_str(), 0700);
  }
  mkdir(folder.c_str(), 0700);
  struct stat found{};
  if (stat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) return false;
  return IsPrivate(found) || (found.st_uid == geteuid() && chmod(folder.c_str(), 0700) == 0);
}

// All of a file; "" when it cannot be read, or others could have written it.
std::string ReadFile(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return "";
  struct stat found{};
  if (fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode) || !IsPrivate(found)) {
    close(descriptor);
    return "";
  }
  std::string all;
  char part[1 << 14];
  ssize_t n = 0;
  while ((n = read(descriptor, part, sizeof(part))) > 0) all.append(part, static_cast<size_t>(n));
  close(descriptor);
  return n == 0 ? all : "";
}

bool WriteAll(int descriptor, std::string_view all) {
  while (!all.empty()) {
    const ssize_t n = write(descriptor, all.data(), all.size());
    if (n <= 0) return false;
    all.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

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
  const std::string folder = Folder();
  struct stat found{};
  if (folder.empty() || key.empty() || stat(folder.c_str(), &found) != 0 || !IsPrivate(found)) return {};
  const std::string all = ReadFile(folder + "/" + key + ".bin");
  const size_t head = kMagic.size() + kSha256Digits;
  if (all.size() <= head || all.compare(0, kMagic.size(), kMagic) != 0) return {};
  if (all.compare(kMagic.size(), kSha256Digits, Sha256Hex(all.data() + head, all.size() - head)) != 0) return {};
  return {all.begin() + static_cast<std::ptrdiff_t>(head), all.end()};
}

void WriteCache(const std::string& key, const std::vector<unsigned char>& program) {
  const std::string folder = Folder();
  if (folder.empty() || key.empty() || program.empty() || !MakeFolder(folder)) return;
  // A name of its own for each writer; renaming is what other processes see.
  std::string partial = folder + "/" + key + ".XXXXXX";
  const int descriptor = mkostemp(partial.data(), O_CLOEXEC);
  if (descriptor < 0) return;
  const std::string head = std::string(kMagic) + Sha256Hex(program.data(), program.size());
  const bool written = WriteAll(descriptor, head) &&
                       WriteAll(descriptor, {reinterpret_cast<const char*>(program.data()), program.size()});
  close(descriptor);
  if (!written || std::rename(partial.c_str(), (folder + "/" + key + ".bin").c_str()) != 0) unlink(partial.c_str());
}

}  // namespace kernpack::opencl
