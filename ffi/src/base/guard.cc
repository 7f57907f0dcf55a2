#include "base/guard.h"

#include <exception>
#include <new>

#include <kernpack/host/host.h>

namespace kernpack::host {

int RaiseCurrentException(const char* who) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return kp_raise("MemoryError", "%s: out of memory", who);
  } catch (const std::exception& error) {
    return kp_raise("InternalError", "%s: %s", who, error.what());
  } catch (...) {
    return kp_raise("InternalError", "%s: threw something that is not a std::exception", who);
  }
}

}  // namespace kernpack::host
