// One custom call of one compiled program: XLA's state of it. XLA owns it and executes it from any number of threads.
#ifndef KERNPACK_SRC_XLA_CALL_SITE_H_
#define KERNPACK_SRC_XLA_CALL_SITE_H_

#include <atomic>
#include <memory>

#include "xla/plan.h"
#include "xla/static_call.h"

namespace kernpack::xla {

struct CallSite {
  // The call's plan for the shapes first seen here, which XLA never changes; NULL before.
  std::atomic<const Plan*> plan{nullptr};
  std::shared_ptr<StaticCall> call;
};

}  // namespace kernpack::xla

#endif  // KERNPACK_SRC_XLA_CALL_SITE_H_
