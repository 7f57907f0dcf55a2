#include "devices/parallel/pool.h"

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>

#include <kernpack/host/host.h>

#include "base/read_once.h"
#include "base/log.h"

namespace kernpack::host {
namespace {

constexpr int32_t kMaxThreads = 1024;
constinit std::atomic<int32_t> g_set{0};

int32_t ReadEnvironment() noexcept {
  const char* text = std::getenv("KERNPACK_NUM_THREADS");
  if (text == nullptr || *text == '\0') return 0;
  int32_t value = 0;
  const char* end = text + std::strlen(text);
  const auto parsed = std::from_chars(text, end, value);
  if (parsed.ec == std::errc() && parsed.ptr == end && value >= 1 && value <= kMaxThreads) return value;
  try {
    Log(KP_LOG_WARNING, std::string("KERNPACK_NUM_THREADS: expected a whole number from 1 to 1024, got '") + text +
                            "'; using one thread per CPU");
  } catch (...) {
      // No memory for the warning: the value is ignored all the same.
  }
  return 0;
}

int32_t FromEnvironment() noexcept { return ReadOnce<ReadEnvironment>(); }

}  // namespace

int32_t RequestedThreads() noexcept {
  const int32_t set = g_set.load(std::memory_order_relaxed);
  return set > 0 ? set : FromEnvironment();
}

}  // namespace kernpack::host

int kp_set_num_threads(int32_t n) {
  if (n < 1 || n > kernpack::host::kMaxThreads) {
    return kp_raise("ValueError", "kp_set_num_threads: expected 1 to %d, got %d", kernpack::host::kMaxThreads, n);
  }
  kernpack::host::g_set.store(n, std::memory_order_relaxed);
  return 0;
}
