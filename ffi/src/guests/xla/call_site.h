// One custom call of one compiled program: XLA's state of it. XLA owns it and executes it from any number of threads.
#ifndef KERNPACK_SRC_GUESTS_XLA_CALL_SITE_H_
#define KERNPACK_SRC_GUESTS_XLA_CALL_SITE_H_

#include <atomic>
#include <memory>

#include "guests/xla/plan.h"
#include "guests/xla/static_call.h"

namespace kernpack::xla {

// All that an execution reads of it is here, in one line of the processor's cache: a program has many call sites.
struct alignas(64) CallSite {
  // The call's plan for the shapes first seen here, which XLA never changes; NULL before.
  std::atomic<const Plan*> plan{nullptr};
  KpSafeCall cpu_call = nullptr;  // the function's; NULL: none runs on CPU
  void* cpu_self = nullptr;
  // Width of XLA's pool; 0 before it was asked for.
  std::atomic<int32_t> pool_width{0};
  std::shared_ptr<StaticCall> call;
};

}  // namespace kernpack::xla

#endif  // KERNPACK_SRC_GUESTS_XLA_CALL_SITE_H_
