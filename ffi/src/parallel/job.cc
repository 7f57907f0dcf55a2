#include "parallel/job.h"

#include <algorithm>

#include "base/guard.h"
#include "call/context.h"
#include "error/slot.h"

namespace kernpack::host {
namespace {

constexpr int64_t kChunksPerThread = 4;  // so that a thread which started late, or lost its CPU, is not waited for
constinit thread_local bool t_in_parallel = false;

}  // namespace

bool InParallel() noexcept { return t_in_parallel; }

Job::Job(int64_t n, int64_t grain, int32_t width, KpParallelBody body, void* context) noexcept
    : n_(n), body_(body), context_(context), call_(CurrentCall()) {
  const int64_t pieces = width > 1 ? width * kChunksPerThread : 1;
  chunk_ = std::max(grain, n / pieces + (n % pieces != 0));
  chunks_ = n / chunk_ + (n % chunk_ != 0);
}

void Job::Work() noexcept {
  const bool outer = t_in_parallel;
  t_in_parallel = true;
  if (call_ == CurrentCall()) {
    RunChunks();
  } else {
    // The call's stream holds on every thread that works for it. Its allocator does not: it may need a lock, such as
    // Python's, that the waiting caller holds.
    KpCallContext borrowed{};
    borrowed.device = call_ ? call_->device : KpDLDevice{};
    borrowed.stream = call_ ? call_->stream : nullptr;
    kp_call_enter(&borrowed);
    RunChunks();
    kp_call_leave(&borrowed);
  }
  t_in_parallel = outer;
}

void Job::RunChunks() noexcept {
  while (!failed_.load(std::memory_order_relaxed)) {
    const int64_t index = next_.fetch_add(1, std::memory_order_relaxed);
    if (index >= chunks_) break;
    const int64_t begin = index * chunk_;
    const int64_t end = n_ - begin > chunk_ ? begin + chunk_ : n_;
    if (Guard("parallel_for", [&] { return body_(context_, begin, end); }) != 0) Fail();
  }
}

void Job::Fail() noexcept {
  KpAny error = kp_none();
  kp_error_take("parallel_for: the body", -1, &error);
  if (failed_.exchange(true, std::memory_order_acq_rel)) {
    kp_any_release(&error);  // not the first
  } else {
    error_ = error;
  }
}

int Job::Finish() noexcept {
  if (!failed_.load(std::memory_order_acquire)) return 0;
  auto* error = reinterpret_cast<KpErrorObject*>(error_.v.v_obj);
  error_ = kp_none();
  return RaiseObject(error);
}

}  // namespace kernpack::host
