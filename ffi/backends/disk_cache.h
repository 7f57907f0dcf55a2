// Code that backends have compiled, on disk: a cache, never the only copy. An entry that can't be read, is damaged, or could have been
// written by another user, counts as absent: it would be run.
#ifndef KERNPACK_BACKENDS_DISK_CACHE_H_
#define KERNPACK_BACKENDS_DISK_CACHE_H_

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "shared/sha256.h"

namespace kernpack::disk_cache {

// Where kernpack.load_inline keeps what it compiles, too: KERNPACK_CACHE_DIR, else XDG_CACHE_HOME or ~/.cache; `part` is the folder in
// it. Empty: nowhere.
inline std::string Folder(const char* part) {
  const auto under = [part](const char* variable, const char* below) {
    const char* value = std::getenv(variable);
    return value != nullptr && *value != 0 ? std::string(value) + below + part : std::string();
  };
  if (std::string named = under("KERNPACK_CACHE_DIR", "/"); !named.empty()) return named;
  if (std::string cache = under("XDG_CACHE_HOME", "/kernpack/"); !cache.empty()) return cache;
  return under("HOME", "/.cache/kernpack/");
}

// True if only this user (and root, who doesn't need a cache to do harm) could have written there.
inline bool IsPrivate(const struct stat& found) {
  return (found.st_uid == geteuid() || found.st_uid == 0) && (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

inline bool IsPrivateFolder(const std::string& folder) {
  struct stat found{};
  return !folder.empty() && stat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && IsPrivate(found);
}

// With the folders above it. False when it is not this user's alone and cannot be made so.
inline bool MakeFolder(const std::string& folder) {
  // Of the first folder that can't be made: "read-only file system" says more than "no such file" of one below it.
  int why = 0;
  const auto make = [&why](const std::string& path) {
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST && why == 0) why = errno;
  };
  for (size_t end = folder.find('/', 1); end != std::string::npos; end = folder.find('/', end + 1)) {
    make(folder.substr(0, end));
  }
  make(folder);
  struct stat found{};
  if (stat(folder.c_str(), &found) != 0) {
    if (why != 0) errno = why;
    return false;
  }
  if (!S_ISDIR(found.st_mode)) {
    errno = ENOTDIR;
    return false;
  }
  return IsPrivate(found) || (found.st_uid == geteuid() && chmod(folder.c_str(), 0700) == 0);
}

// All of a file; "" when it cannot be read, or others could have written it.
inline std::string ReadFile(const std::string& path) {
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

inline bool WriteAll(int descriptor, std::string_view all) {
  while (!all.empty()) {
    const ssize_t n = write(descriptor, all.data(), all.size());
    if (n <= 0) return false;
    all.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

// The content that WriteEntry wrote at `path` with that magic line; "" when there is none, or it was changed since.
inline std::string ReadEntry(const std::string& path, std::string_view magic) {
  const std::string all = ReadFile(path);
  const size_t head = magic.size() + kSha256Digits;
  if (all.size() <= head || all.compare(0, magic.size(), magic) != 0) return {};
  if (all.compare(magic.size(), kSha256Digits, Sha256Hex(all.data() + head, all.size() - head)) != 0) return {};
  return all.substr(head);
}

// Replaces the file in one step, in a folder that MakeFolder made. False with errno where that can't be done.
inline bool WriteEntry(const std::string& path, std::string_view magic, std::string_view content) {
  // A name of its own for each writer; renaming is what other processes see.
  std::string partial = path + ".XXXXXX";
  const int descriptor = mkostemp(partial.data(), O_CLOEXEC);
  if (descriptor < 0) return false;
  const std::string head = std::string(magic) + Sha256Hex(content.data(), content.size());
  const bool written = WriteAll(descriptor, head) && WriteAll(descriptor, content);
  const int why = errno;
  close(descriptor);
  if (written && std::rename(partial.c_str(), path.c_str()) == 0) return true;
  if (!written) errno = why;
  const int kept = errno;
  unlink(partial.c_str());
  errno = kept;
  return false;
}

}  // namespace kernpack::disk_cache

#endif  // KERNPACK_BACKENDS_DISK_CACHE_H_
