#include "guests/xla/runtime.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "base/loader/float_environment.h"

namespace kernpack::xla {
namespace {

void DestroyError(const Api* api, Error* error) {
  ErrorDestroyArgs args = {sizeof args, nullptr, error};
  api->error_destroy(&args);
}

// Pieces are claimed, never assigned: XLA may run a task late, or inline, and the caller must not wait for one that has
// not started. A late task finds no piece left and only drops its reference.
class Loop {
 public:
  Loop(int64_t pieces, KpParallelBody body, void* context)
      : pieces_(pieces), body_(body), context_(context), unfinished_(pieces) {}

  void Work() {
    for (;;) {
      const int64_t piece = next_.fetch_add(1, std::memory_order_relaxed);
      if (piece >= pieces_) return;
      (void)body_(context_, piece, piece + 1);  // the host's own body: it keeps its errors itself
      if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
      const std::lock_guard<std::mutex> lock(mutex_);
      done_ = true;
      all_done_.notify_all();
    }
  }

  void Wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    all_done_.wait(lock, [this] { return done_; });
  }

 private:
  const int64_t pieces_;
  const KpParallelBody body_;
  void* const context_;
  std::atomic<int64_t> next_{0};
  std::atomic<int64_t> unfinished_;
  std::mutex mutex_;
  std::condition_variable all_done_;
  bool done_ = false;
};

void RunTask(void* data) {
  const host::SubnormalsAreNumbers in_the_kernel;
  const std::unique_ptr<std::shared_ptr<Loop>> loop(static_cast<std::shared_ptr<Loop>*>(data));
  (*loop)->Work();
}

}  // namespace

int32_t PoolWidth(const CallFrame* frame) {
  int64_t count = 1;
  NumThreadsArgs args = {sizeof args, nullptr, frame->context, &count};
  if (Error* error = frame->api->thread_pool_num_threads(&args)) {
    DestroyError(frame->api, error);
    return 1;
  }
  return static_cast<int32_t>(std::clamp<int64_t>(count, 1, 1024));
}

int ParallelFor(void* opaque_frame, int64_t n, int64_t, KpParallelBody body, void* body_context) {
  const auto* frame = static_cast<const CallFrame*>(opaque_frame);
  const auto loop = std::make_shared<Loop>(n, body, body_context);
  for (int64_t helper = 1; helper < n; ++helper) {
    auto reference = std::make_unique<std::shared_ptr<Loop>>(loop);
    ScheduleArgs args = {sizeof args, nullptr, frame->context, RunTask, reference.get()};
    if (Error* error = frame->api->thread_pool_schedule(&args)) {
      DestroyError(frame->api, error);
      break;  // this thread does the work
    }
    (void)reference.release();
  }
  loop->Work();
  loop->Wait();
  return 0;
}

}  // namespace kernpack::xla
