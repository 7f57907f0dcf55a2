#include "devices/observers.h"

#include "base/call_flags.h"
#include "observe/check/call.h"
#include "observe/profile/entry.h"

namespace kernpack::host {
namespace {

// Chunks on whatever thread belong to the checked call that started them.
int CheckedParallelFor(ParallelFor* run, int64_t n, int64_t grain, KpParallelBody body, void* context) {
  check::CheckedCall* call = check::CheckedCall::Current();
  if (call == nullptr || body == nullptr) return run(n, grain, body, context);
  check::CheckedBody checked{body, context, call};
  return run(n, grain, check::CheckedBody::Run, &checked);
}

void Resolved(const KpLoadedFunction* function, KpSafeCall* call, void** self) {
  const KpSafeCall variant_call = *call;
  if (check::Checking()) check::StandIn(function, call, self);
  if (profile::Profiling()) profile::StandIn(function, variant_call, call, self);
}

}  // namespace

constinit const Observers kObservers{check::EmptyChecked, check::GetChecked, check::LookAtStored, CheckedParallelFor,
                                     Resolved};

}  // namespace kernpack::host
