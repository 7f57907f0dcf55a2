#include "base/thread_index.h"

#include <atomic>

namespace kernpack::host {
namespace {

constinit std::atomic<uint32_t> g_next{0};
constinit thread_local uint32_t t_index_plus_one = 0;

}  // namespace

uint32_t ThreadIndex() noexcept {
  if (t_index_plus_one == 0) t_index_plus_one = g_next.fetch_add(1, std::memory_order_relaxed) + 1;
  return t_index_plus_one - 1;
}

}  // namespace kernpack::host
