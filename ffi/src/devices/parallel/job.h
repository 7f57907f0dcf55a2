// One parallel_for: chunks of [0, n) that any number of threads take until none is left. They begin large, so that there
// are few, and end small, so that no thread waits long for the last of them.
#ifndef KERNPACK_SRC_DEVICES_PARALLEL_JOB_H_
#define KERNPACK_SRC_DEVICES_PARALLEL_JOB_H_

#include <atomic>
#include <cstdint>

#include <kernpack/host/host.h>

namespace kernpack::host {

class Job {
 public:
  // `width`: how many threads will work on it at most. n >= 1, grain >= 1.
  Job(int64_t n, int64_t grain, int32_t width, KpParallelBody body, void* context) noexcept;
  ~Job() { kp_any_release(&error_); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  // Works until no chunk is left or one failed. Called by each thread; never throws. Nested parallel_for calls run serially.
  // Returns whether there was a chunk left for this thread.
  bool Work() noexcept;
  // After all threads came back: 0, or -1 with the first failing chunk's error raised in this thread.
  int Finish() noexcept;

 private:
  bool RunChunks() noexcept;
  bool TakeChunk(int64_t* begin, int64_t* end) noexcept;
  void Fail() noexcept;

  int64_t n_;
  int64_t grain_;
  int64_t grains_;  // in n, the last one perhaps shorter
  int64_t parts_;  // a chunk is this part of what is left
  KpParallelBody body_;
  void* context_;
  const KpCallContext* call_;  // of the thread that made the job
  std::atomic<int64_t> next_{0};  // grain
  std::atomic<bool> failed_{false};
  KpAny error_ = kp_none();  // written by the thread that set failed_
};

// True if this thread is inside a chunk.
bool InParallel() noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_PARALLEL_JOB_H_
