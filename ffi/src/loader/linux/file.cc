// Reading a shared object's bytes.
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "kernpack/host/host.h"
#include "loader/linux/descriptor.h"
#include "loader/platform.h"

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

}  // namespace

int ReadRegularFile(const char* path, FileContent* out) {
  // Non-blocking: opening a pipe must not wait for a writer.
  Descriptor file(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return RaiseOpen(path, errno);
  struct stat info;
  if (fstat(file.get(), &info) != 0) return RaiseOpen(path, errno);
  if (S_ISDIR(info.st_mode)) {
    return kp_raise("OSError", "kernpack.load: expected a shared object, got the directory '%s'", path);
  }
  if (!S_ISREG(info.st_mode)) {
    return kp_raise("OSError", "kernpack.load: expected a shared object, got '%s', which is no regular file", path);
  }
  const auto expected = static_cast<size_t>(info.st_size);
  out->data = std::make_unique_for_overwrite<char[]>(expected);
  out->size = 0;
  while (out->size < expected) {
    const ssize_t got = read(file.get(), out->data.get() + out->size, expected - out->size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return RaiseOpen(path, errno);
    if (got == 0) break;  // it shrank meanwhile; the format check refuses what is missing
    out->size += static_cast<size_t>(got);
  }
  return 0;
}

}  // namespace kernpack::platform
