// A file descriptor that closes itself.
#ifndef KERNPACK_SRC_BASE_DESCRIPTOR_H_
#define KERNPACK_SRC_BASE_DESCRIPTOR_H_

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

}  // namespace kernpack::platform

#endif  // KERNPACK_SRC_BASE_DESCRIPTOR_H_
