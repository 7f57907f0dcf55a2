// File descriptors: one that closes itself, and writing all of some bytes to one.
#ifndef KERNPACK_SRC_BASE_DESCRIPTOR_H_
#define KERNPACK_SRC_BASE_DESCRIPTOR_H_

#include <cerrno>
#include <span>

#include <unistd.h>

namespace kernpack::platform {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int Release() {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }

 private:
  int fd_;
};

// Writing all of some bytes to a descriptor.
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

#endif  // KERNPACK_SRC_BASE_DESCRIPTOR_H_
