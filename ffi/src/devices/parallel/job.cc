#include "devices/parallel/job.h"

#include "base/guard.h"
#include "devices/call/context.h"
#include "values/error/slot.h"

namespace kernpack::host {
namespace {

constexpr int64_t kPartsPerThread = 4;  // so that a thread which started late, or lost its CPU, is not waited for

int64_t CeilDiv(int64_t a, int64_t b) { return a / b + (a % b != 0); }

constinit thread_local bool t_in_parallel = false;

}  // namespace

bool InParallel() noexcept { return t_in_parallel; }

Job::Job(int64_t n, int64_t grain, int32_t width, KpParallelBody body, void* context) noexcept
    : n_(n),
      grain_(grain),
      grains_(CeilDiv(n, grain)),
      parts_(width > 1 ? width * kPartsPerThread : 1),
      body_(body),
      context_(context),
      call_(CurrentCall()) {}

bool Job::Work() noexcept {
  const bool outer = t_in_parallel;
  bool worked = false;
  t_in_parallel = true;
  if (call_ == CurrentCall()) {
    worked = RunChunks();
  } else {
    // The call's stream holds on every thread that works for it. Its allocator does not: it may need a lock, such as
    // Python's, that the waiting caller holds.
    KpCallContext borrowed{};
    borrowed.device = call_ ? call_->device : KpDLDevice{};
    borrowed.stream = call_ ? call_->stream : nullptr;
    kp_call_enter(&borrowed);
    worked = RunChunks();
    kp_call_leave(&borrowed);
  }
  t_in_parallel = outer;
  return worked;
}

bool Job::TakeChunk(int64_t* begin, int64_t* end) noexcept {
  int64_t first = next_.load(std::memory_order_relaxed);
  int64_t last = 0;
  do {
    if (first >= grains_) return false;
    last = first + CeilDiv(grains_ - first, parts_);
  } while (!next_.compare_exchange_weak(first, last, std::memory_order_relaxed));
  *begin = first * grain_;
  *end = last < grains_ ? last * grain_ : n_;
  return true;
}

bool Job::RunChunks() noexcept {
  int64_t begin = 0;
  int64_t end = 0;
  bool worked = false;
  while (!failed_.load(std::memory_order_relaxed) && TakeChunk(&begin, &end)) {
    worked = true;
    if (Guard("parallel_for", [&] { return body_(context_, begin, end); }) != 0) Fail();
  }
  return worked;
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
