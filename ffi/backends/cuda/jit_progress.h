// A line on stderr for a compilation that takes long, and one at its end.
#ifndef KERNPACK_BACKENDS_CUDA_JIT_PROGRESS_H_
#define KERNPACK_BACKENDS_CUDA_JIT_PROGRESS_H_

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "backends/cuda/text.h"

namespace kernpack::cuda {

class JitProgress {
 public:
  using Clock = std::chrono::steady_clock;

  // `kept`: the result goes into the cache.
  JitProgress(std::string doing, bool kept) : doing_(std::move(doing)), kept_(kept) {
    const char* shown = std::getenv("KERNPACK_PROGRESS");
    if (shown == nullptr || std::string_view(shown) != "0") thread_ = std::thread([this] { Watch(); });
  }
  JitProgress(const JitProgress&) = delete;
  JitProgress& operator=(const JitProgress&) = delete;
  ~JitProgress() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_one();
    thread_.join();
    if (said_) Say(Format("kernpack: %s took %.1f s\n", doing_.c_str(), seconds()));
  }
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

 private:
  void Watch() {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; })) return;
    said_ = true;
    Say("kernpack: " + doing_ + (kept_ ? "; it is kept for later processes\n" : "\n"));
  }
  static void Say(const std::string& line) { std::fwrite(line.data(), 1, line.size(), stderr); }

  const std::string doing_;
  const bool kept_;
  const Clock::time_point begun_ = Clock::now();
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  bool said_ = false;
  std::thread thread_;
};

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_JIT_PROGRESS_H_
