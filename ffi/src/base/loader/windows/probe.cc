#include <kernpack/host/host.h>

#include "base/loader/platform.h"

namespace kernpack::platform {

int TryInChild(const char* path, int (*)(void* context, std::string* error), void*) {
  return kp_raise("NotImplementedError",
                  "kernpack.load: '%s': a trial in a child process (probe) needs fork(), which Windows lacks; load the "
                  "module in a process of its own instead",
                  path);
}

}  // namespace kernpack::platform
