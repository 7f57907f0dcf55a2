// Writing all of some bytes to a descriptor.
#ifndef KERNPACK_SRC_BASE_LOADER_LINUX_WRITE_ALL_H_
#define KERNPACK_SRC_BASE_LOADER_LINUX_WRITE_ALL_H_

#include <unistd.h>

#include <cerrno>
#include <span>

namespace kernpack::platform {

inline bool WriteAll(int fd, std::span<const char> content) {
  while (!content.empty()) {
    const ssize_t written = write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content = content.subspan(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace kernpack::platform

#endif  // KERNPACK_SRC_BASE_LOADER_LINUX_WRITE_ALL_H_
