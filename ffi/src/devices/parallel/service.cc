// parallel_for: the calling framework's pool, else the OpenMP runtime already in the process, else our own threads.
#include <algorithm>

#include <kernpack/host/host.h>

#include "base/guard.h"
#include "devices/call/context.h"
#include "devices/observers.h"
#include "base/call_flags.h"
#include "base/services.h"
#include "devices/parallel/cpu_contention.h"
#include "devices/parallel/job.h"
#include "devices/parallel/openmp.h"
#include "devices/parallel/pool.h"

namespace kernpack::host {
namespace {

const KpCallContext* ContextWithPool() noexcept {
  for (const KpCallContext* call = CurrentCall(); call != nullptr; call = call->outer) {
    if (call->parallel_for != nullptr) return call;
  }
  return nullptr;
}

int32_t OpenMpWidth(const OpenMp& openmp) noexcept {
  const int32_t most = std::max(1, openmp.max_threads());
  const int32_t requested = RequestedThreads();
  return requested > 0 ? std::min(most, requested) : most;
}

int32_t Width(const KpCallContext* context, const OpenMp* openmp) noexcept {
  if (InParallel()) return 1;
  if (context != nullptr) return std::max(1, context->parallel_threads);
  if (openmp != nullptr) return openmp->in_parallel() ? 1 : OpenMpWidth(*openmp);
  return PoolWidth();
}

int RunChunk(void* job, int64_t, int64_t) {
  static_cast<Job*>(job)->Work();
  return 0;
}

int RunOnContext(const KpCallContext* context, Job& job, int32_t width) {
  // The framework's pool hands out `width` pieces; each is a thread that takes chunks, so errors and nesting work alike.
  return context->parallel_for(context->parallel_context, width, 1, RunChunk, &job);
}

int RunParallel(int64_t n, int64_t grain, KpParallelBody body, void* context) {
  if (body == nullptr) return kp_raise("ValueError", "parallel_for: the body is NULL");
  if (n < 0) return kp_raise("ValueError", "parallel_for: n is %lld; expected 0 or more", static_cast<long long>(n));
  if (n == 0) return 0;
  grain = std::max<int64_t>(grain, 1);
  const KpCallContext* call = ContextWithPool();
  const OpenMp* openmp = call == nullptr ? FindOpenMp() : nullptr;
  const int64_t pieces = n / grain + (n % grain != 0);
  auto width = static_cast<int32_t>(std::min<int64_t>(Width(call, openmp), pieces));
  if (width > 1 && call == nullptr && IsCrowded()) width = 1;
  Job job(n, grain, width, body, context);
  int rc = 0;
  if (width <= 1) {
    job.Work();
  } else if (call != nullptr) {
    rc = RunOnContext(call, job, width);
  } else if (openmp != nullptr) {
    RunOnOpenMp(*openmp, job, width);
  } else {
    RunOnPool(job, width);
  }
  const int job_rc = job.Finish();
  return rc != 0 ? rc : job_rc;
}

}  // namespace
}  // namespace kernpack::host

namespace kernpack::host::service {

int parallel_for(const KpHost*, int64_t n, int64_t grain, KpParallelBody body, void* context) noexcept {
  return Guard("parallel_for", [&] {
    if (check::Checking()) return kObservers.parallel_for(RunParallel, n, grain, body, context);
    return RunParallel(n, grain, body, context);
  });
}

int num_threads(const KpHost*, int32_t* out) noexcept {
  const KpCallContext* call = ContextWithPool();
  *out = Width(call, call == nullptr ? FindOpenMp() : nullptr);
  return 0;
}

}  // namespace kernpack::host::service
