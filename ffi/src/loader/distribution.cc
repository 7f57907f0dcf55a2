#include "loader/distribution.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include <kernpack/host/host.h>

namespace kernpack::host {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInfo = ".dist-info";
constexpr int kDeepest = 5;  // folders between a file and the one that its distribution was installed into

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The way in which RECORD writes digests: base64 for URLs, without padding.
std::string Base64Url(const std::string& hex) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const auto value = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
  std::string text;
  unsigned pending = 0;
  int bits = 0;
  for (const char c : hex) {
    pending = (pending << 4) | value(c);
    for (bits += 4; bits >= 6; bits -= 6) text += kDigits[(pending >> (bits - 6)) & 63];
  }
  if (bits > 0) text += kDigits[(pending << (6 - bits)) & 63];
  return text;
}

// A path as a field of RECORD, which is a file of comma-separated values.
std::string AsField(const std::string& path) {
  if (path.find_first_of(",\"\n") == std::string::npos) return path;
  std::string field = "\"";
  for (const char c : path) field.append(c == '"' ? 2 : 1, c);
  return field + '"';
}

// The hash that a RECORD gives for the path: "sha256=..."; empty where it gives none.
std::string HashInRecord(const std::string& record, const std::string& path) {
  const std::string begin = AsField(path) + ",";
  for (size_t at = record.find(begin); at != std::string::npos; at = record.find(begin, at + 1)) {
    if (at != 0 && record[at - 1] != '\n') continue;
    const size_t from = at + begin.size();
    return record.substr(from, std::min(record.find(',', from), record.size()) - from);
  }
  return {};
}

std::string Normal(std::string_view name) {
  std::string text(name);
  for (char& c : text) c = c == '-' || c == '.' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

// The metadata folders in a folder, first those that are called like the package.
std::vector<std::string> MetadataIn(const fs::path& folder, const std::string& package) {
  std::vector<std::string> found;
  std::error_code ignored;
  for (fs::directory_iterator entry(folder, ignored), end; !ignored && entry != end; entry.increment(ignored)) {
    std::string name = entry->path().filename().string();
    if (name.ends_with(kInfo)) found.push_back(std::move(name));
  }
  const std::string likely = Normal(package);
  std::partition(found.begin(), found.end(), [&likely](const std::string& name) {
    return Normal(name.substr(0, std::min(name.find('-'), name.size()))) == likely;
  });
  return found;
}

struct Distribution {
  std::string name, version, hash;
};

Distribution FindDistribution(const char* path) {
  std::error_code failed;
  const fs::path asked(path);
  // Folders may be links; a file that is a link is listed under its own name.
  const fs::path folder = fs::canonical(asked.has_parent_path() ? asked.parent_path() : fs::path("."), failed);
  if (failed) return {};
  const fs::path file = folder / asked.filename();
  fs::path place = folder;
  for (int i = 0; i < kDeepest; ++i, place = place.parent_path()) {
    const fs::path inside = file.lexically_relative(place);
    const std::vector<std::string> all = MetadataIn(place, fs::path(*inside.begin()).stem().string());
    for (const std::string& info : all) {
      const std::string hash = HashInRecord(ReadAll(place / info / "RECORD"), inside.generic_string());
      if (hash.empty() || ReadAll(place / info / "INSTALLER").starts_with("conda")) continue;
      const std::string named = info.substr(0, info.size() - kInfo.size());
      const size_t dash = named.find('-');
      if (dash == std::string::npos) continue;
      std::string name = named.substr(0, dash);
      std::replace(name.begin(), name.end(), '_', '-');
      return {name, named.substr(dash + 1), hash};
    }
    if (!all.empty() || place == place.root_path()) break;  // this is where distributions were installed
  }
  return {};
}

}  // namespace

bool VerificationIsOff() {
  const char* wanted = std::getenv("KERNPACK_VERIFY");
  return wanted != nullptr && std::strcmp(wanted, "0") == 0;
}

int VerifyAgainstRecord(const char* path, const std::string& digest, std::string* verified) {
  verified->clear();
  if (VerificationIsOff()) return 0;
  constexpr std::string_view kSha256 = "sha256=";
  const Distribution found = FindDistribution(path);
  if (!found.hash.starts_with(kSha256)) return 0;
  if (found.hash.substr(kSha256.size()) != Base64Url(digest)) {
    return kp_raise("ImportError",
                    "kernpack.load: '%s' isn't the file that %s %s installed: its RECORD says %s, the file has "
                    "sha256=%s; run `pip install --force-reinstall %s==%s`, or set KERNPACK_VERIFY=0 where files are "
                    "changed on purpose after they were installed",
                    path, found.name.c_str(), found.version.c_str(), found.hash.c_str(), Base64Url(digest).c_str(),
                    found.name.c_str(), found.version.c_str());
  }
  *verified = found.name + " " + found.version;
  return 0;
}

}  // namespace kernpack::host
