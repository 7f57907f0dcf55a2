#include "binary_cache.h"

#define XXH_INLINE_ALL
#include <unistd.h>
#include <xxhash.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace kernpack::opencl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "kernpack.opencl.1\n";  // a new number when what a key covers changes

XXH128_hash_t Digest(const void* data, size_t size) { return XXH3_128bits(data, size); }

std::string Hex(XXH128_hash_t digest) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, digest);
  std::string text;
  for (unsigned char byte : canonical.digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

// Where kernpack.load_inline keeps what it compiles, too: KERNPACK_CACHE_DIR, else XDG_CACHE_HOME or ~/.cache. Empty: nowhere.
fs::path Folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value != nullptr ? value : "");
  };
  if (const fs::path named = variable("KERNPACK_CACHE_DIR"); !named.empty()) return named / "opencl";
  if (const fs::path cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache / "kernpack/opencl";
  if (const fs::path home = variable("HOME"); !home.empty()) return home / ".cache/kernpack/opencl";
  return {};
}

}  // namespace

std::string CacheKey(const DeviceFacts& device, std::string_view source, std::string_view options) {
  std::string text(kMagic);
  for (const std::string_view part :
       {std::string_view(device.platform_name), std::string_view(device.vendor), std::string_view(device.name),
        std::string_view(device.version), std::string_view(device.driver_version), options, source}) {
    text += std::to_string(part.size()) + ":";  // lengths keep neighbours apart
    text += part;
  }
  return Hex(Digest(text.data(), text.size()));
}

std::vector<unsigned char> ReadCache(const std::string& key) {
  const fs::path folder = Folder();
  if (folder.empty()) return {};
  std::ifstream file(folder / (key + ".bin"), std::ios::binary);
  if (!file) return {};
  const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  constexpr size_t kDigest = 32;
  const size_t head = kMagic.size() + kDigest;
  if (all.size() <= head || all.compare(0, kMagic.size(), kMagic) != 0) return {};
  if (all.compare(kMagic.size(), kDigest, Hex(Digest(all.data() + head, all.size() - head))) != 0) return {};
  return {all.begin() + static_cast<std::ptrdiff_t>(head), all.end()};
}

void WriteCache(const std::string& key, const std::vector<unsigned char>& program) {
  const fs::path folder = Folder();
  if (folder.empty()) return;
  std::error_code ignored;
  fs::create_directories(folder, ignored);
  // A name of its own for each writer; renaming is what other processes see.
  std::string partial = folder / (key + ".XXXXXX");
  const int descriptor = mkstemp(partial.data());
  if (descriptor < 0) return;
  const std::string all =
      std::string(kMagic) + Hex(Digest(program.data(), program.size())) + std::string(program.begin(), program.end());
  size_t written = 0;
  while (written < all.size()) {
    const ssize_t n = write(descriptor, all.data() + written, all.size() - written);
    if (n <= 0) break;
    written += static_cast<size_t>(n);
  }
  close(descriptor);
  if (written == all.size()) fs::rename(partial, folder / (key + ".bin"), ignored);
  if (written != all.size() || ignored) unlink(partial.c_str());
}

}  // namespace kernpack::opencl
