// Reading a shared object's bytes.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "kernpack/host/host.h"
#include "base/loader/platform.h"

namespace kernpack::platform {
namespace {

int RaiseOpen(const char* path, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    return kp_raise("FileNotFoundError", "kernpack.load: no such file: '%s'", path);
  }
  if (error == EACCES || error == EPERM) {
    return kp_raise("OSError", "kernpack.load: no permission to read '%s'; check its mode and its folders' (chmod a+r)",
                    path);
  }
  return kp_raise("OSError", "kernpack.load: cannot open '%s': %s", path, std::strerror(error));
}

int64_t Nanoseconds(const timespec& time) { return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec; }

// Deleting and renaming a file, which do no harm, change its ctime too: the content has the mtime.
bool SameState(const struct stat& a, const struct stat& b) {
  return a.st_size == b.st_size && Nanoseconds(a.st_mtim) == Nanoseconds(b.st_mtim);
}

// True if every later change must show in the file's times: they tick every few milliseconds, and the last tick is over.
// Whole seconds come from archives and file systems that don't tell a change from the other.
bool IsSettled(const struct stat& info) {
  constexpr int64_t kSettling = 2'000'000'000;
  timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0 || info.st_ctim.tv_nsec == 0) return false;
  const int64_t age = Nanoseconds(now) - Nanoseconds(info.st_ctim);
  return age > kSettling && Nanoseconds(now) - Nanoseconds(info.st_mtim) > kSettling;
}

std::string StateOf(const struct stat& info) {
  char text[120];
  std::snprintf(text, sizeof text, "%llx-%llx-%llx-%llx-%llx", static_cast<unsigned long long>(info.st_dev),
                static_cast<unsigned long long>(info.st_ino), static_cast<unsigned long long>(info.st_size),
                static_cast<unsigned long long>(Nanoseconds(info.st_mtim)),
                static_cast<unsigned long long>(Nanoseconds(info.st_ctim)));
  return text;
}

}  // namespace

std::string StateOfFile(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode) && IsSettled(info) ? StateOf(info) : std::string();
}

SourceFile::~SourceFile() {
  if (fd_ >= 0) close(fd_);
}

int SourceFile::Open(const char* path) {
  path_ = path;
  // Non-blocking: opening a pipe must not wait for a writer.
  fd_ = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) return RaiseOpen(path, errno);
  struct stat info;
  if (fstat(fd_, &info) != 0) return RaiseOpen(path, errno);
  if (S_ISDIR(info.st_mode)) {
    return kp_raise("OSError", "kernpack.load: expected a shared object, got the directory '%s'", path);
  }
  if (!S_ISREG(info.st_mode)) {
    return kp_raise("OSError", "kernpack.load: expected a shared object, got '%s', which isn't a regular file", path);
  }
  size_ = static_cast<size_t>(info.st_size);
  state_ = IsSettled(info) ? StateOf(info) : std::string();
  return 0;
}

int SourceFile::Read() {
  struct stat before, after;
  if (fstat(fd_, &before) != 0) return RaiseOpen(path_, errno);
  const auto expected = static_cast<size_t>(before.st_size);
  data_ = std::make_unique_for_overwrite<char[]>(expected);
  size_ = 0;
  while (size_ < expected) {
    const ssize_t got = pread(fd_, data_.get() + size_, expected - size_, static_cast<off_t>(size_));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return RaiseOpen(path_, errno);
    if (got == 0) break;  // it shrank meanwhile
    size_ += static_cast<size_t>(got);
  }
  if (fstat(fd_, &after) != 0) return RaiseOpen(path_, errno);
  if (size_ == expected && SameState(before, after)) return 0;
  return kp_raise("OSError",
                  "kernpack.load: '%s' was written while it was read; load it again when that is done, and replace "
                  "files by renaming a whole one",
                  path_);
}

}  // namespace kernpack::platform
