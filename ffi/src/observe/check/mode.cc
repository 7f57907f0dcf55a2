#include "base/call_flags.h"

#include <cstdlib>
#include <cstring>

#include <kernpack/host/host.h>

namespace kernpack::host::check {
namespace {

// KERNPACK_CHECK: anything but "" and "0" turns the mode on for the whole process, "quiet" without a line per call. Read when
// the library is loaded.
int32_t FromEnvironment(bool tracing) noexcept {
  const char* value = std::getenv("KERNPACK_CHECK");
  if (value == nullptr || *value == '\0' || std::strcmp(value, "0") == 0) return 0;
  return tracing && std::strcmp(value, "quiet") == 0 ? 0 : 1;
}

}  // namespace

std::atomic<int32_t> g_checking{FromEnvironment(/*tracing=*/false)};
std::atomic<int32_t> g_tracing{FromEnvironment(/*tracing=*/true)};

}  // namespace kernpack::host::check

namespace check = kernpack::host::check;

static_assert(sizeof check::g_checking == sizeof(int32_t), "kp_checking hands it out as a plain word");
const int32_t* kp_checking(void) { return reinterpret_cast<const int32_t*>(&check::g_checking); }

void kp_checking_enter(uint32_t flags) {
  if (flags & KP_CHECKING_TRACE) check::g_tracing.fetch_add(1, std::memory_order_relaxed);
  check::g_checking.fetch_add(1, std::memory_order_relaxed);
}

void kp_checking_leave(uint32_t flags) {
  check::g_checking.fetch_sub(1, std::memory_order_relaxed);
  if (flags & KP_CHECKING_TRACE) check::g_tracing.fetch_sub(1, std::memory_order_relaxed);
}
