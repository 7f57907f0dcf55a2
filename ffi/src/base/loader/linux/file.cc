// Reading a shared object's bytes.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <ctime>

#include "kernpack/host/host.h"
#include "shared/sha256.h"
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

// True if every later change must show in the file's times: they tick every few milliseconds, and the last tick is over.
// Whole seconds come from archives and file systems that don't tell a change from the other.
bool IsSettled(const struct stat& info) {
  constexpr int64_t kSettling = 2'000'000'000;
  timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0 || info.st_ctim.tv_nsec == 0) return false;
  const int64_t age = Nanoseconds(now) - Nanoseconds(info.st_ctim);
  return age > kSettling && Nanoseconds(now) - Nanoseconds(info.st_mtim) > kSettling;
}

bool OnlyWeWrite(const struct stat& info) {
  return (info.st_uid == geteuid() || info.st_uid == 0) && (info.st_mode & 022) == 0;
}

// The folder counts, too: who can write there can rename another file to the path while the dynamic linker opens it.
bool IsGuarded(const char* path, const struct stat& info) {
  if (!OnlyWeWrite(info)) return false;
  const char* slash = std::strrchr(path, '/');
  const std::string folder = slash ? std::string(path, static_cast<size_t>(slash - path) + 1) : ".";
  struct stat above;
  return stat(folder.c_str(), &above) == 0 && OnlyWeWrite(above);
}

// Device, number, size and times; the ctime is last.
std::string StateText(const struct stat& info) {
  const uint64_t parts[] = {info.st_dev, info.st_ino, static_cast<uint64_t>(info.st_size),
                            static_cast<uint64_t>(Nanoseconds(info.st_mtim)),
                            static_cast<uint64_t>(Nanoseconds(info.st_ctim))};
  return JoinState(parts);
}

FileState GetState(const char* path, const struct stat& info) {
  return {StateText(info), IsSettled(info), IsGuarded(path, info)};
}

}  // namespace

FileState StateOfFile(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode) ? GetState(path, info) : FileState();
}

bool HasContentOf(const char* path, const FileState& state) {
  struct stat info;
  const size_t ctime = state.text.rfind('-');
  if (ctime == std::string::npos || stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return false;
  const std::string now = StateText(info);
  return state.text.compare(0, ctime, now, 0, now.rfind('-')) == 0;
}

void SourceFile::Free::operator()(char* data) const {
  if (mapped == 0) {
    delete[] data;
  } else {
    munmap(data, mapped);
  }
}

SourceFile::~SourceFile() {
  if (fd_ >= 0) close(fd_);
}

int SourceFile::Open(const char* path, const FileState& seen) {
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
  written_ = Nanoseconds(info.st_mtim);
  // A state that was seen a moment ago: what it says of the folder holds.
  state_ = seen.text == StateText(info) ? seen : GetState(path, info);
  return 0;
}

template <class Use>
int SourceFile::ReadThrough(std::span<char> room, const Use& use) {
  const size_t expected = size_;
  size_t at = 0;
  while (at < expected) {
    const ssize_t got = pread(fd_, room.data(), std::min(room.size(), expected - at), static_cast<off_t>(at));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return RaiseOpen(path_, errno);
    if (got == 0) break;  // it shrank meanwhile
    room = use(room, static_cast<size_t>(got));
    at += static_cast<size_t>(got);
  }
  size_ = at;
  struct stat after;
  if (fstat(fd_, &after) != 0) return RaiseOpen(path_, errno);
  // Deleting and renaming a file, which do no harm, change its ctime too: the content has the mtime.
  if (at == expected && static_cast<size_t>(after.st_size) == expected && Nanoseconds(after.st_mtim) == written_) {
    return 0;
  }
  return kp_raise("OSError",
                  "kernpack.load: '%s' was written while it was read; load it again when that is done, and replace "
                  "files by renaming a whole one",
                  path_);
}

int SourceFile::Read() {
  data_ = {new char[size_], Free{0}};
  return ReadThrough({data_.get(), size_}, [](std::span<char> room, size_t got) { return room.subspan(got); });
}

int SourceFile::Hash(std::string* digest) {
  constexpr size_t kPiece = 1 << 18;  // stays in the processor's cache between reading and hashing
  const auto room = std::make_unique_for_overwrite<char[]>(std::min(kPiece, size_ + 1));
  posix_fadvise(fd_, 0, 0, POSIX_FADV_SEQUENTIAL);  // a disk reads on meanwhile
  Sha256Stream stream;
  const auto add = [&stream](std::span<char> piece, size_t got) {
    stream.Add(piece.data(), got);
    return piece;
  };
  if (ReadThrough({room.get(), std::min(kPiece, size_ + 1)}, add) != 0) return -1;
  *digest = Sha256Hex(stream.Finish());
  return 0;
}

int SourceFile::Map() {
  struct stat info;
  if (fstat(fd_, &info) != 0) return RaiseOpen(path_, errno);
  size_ = static_cast<size_t>(info.st_size);
  if (size_ == 0) return 0;
  void* mapped = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd_, 0);
  if (mapped == MAP_FAILED) return RaiseOpen(path_, errno);
  data_ = {static_cast<char*>(mapped), Free{size_}};
  return 0;
}

}  // namespace kernpack::platform
