// Streams: in-order command queues.
#ifndef KERNPACK_BACKENDS_OPENCL_STREAM_H_
#define KERNPACK_BACKENDS_OPENCL_STREAM_H_

#include <atomic>
#include <memory>
#include <mutex>

#include "event_ref.h"

namespace kernpack::opencl {

class Stream {
 public:
  static constexpr const char* kWhat = "stream";

  // Throws kp::Error.
  Stream(const char* function, const Device* of);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream();

  // The stream behind a handle of this device; NULL is the device's default one.
  static std::shared_ptr<Stream> Find(const char* function, const Device& device, const void* handle);

  cl_command_queue queue() const { return queue_; }
  // Called after something was queued.
  void Queued() { queued_.fetch_add(1, std::memory_order_release); }
  // The number to give to Reached() when all that was queued so far is known to be done.
  uint64_t Position() const { return queued_.load(std::memory_order_acquire); }
  void Reached(uint64_t position);
  // Waits for what was queued.
  void Sync(const char* function);
  bool Idle(const char* function);
  // An event that is reached when all that is queued now is done, and that another queue may wait for.
  EventRef Mark(const char* function);
  // Later work here waits for it.
  void Await(const char* function, cl_event event);

  const Device* const device;

 private:
  cl_command_queue queue_ = nullptr;
  std::atomic<uint64_t> queued_{0};   // commands
  std::atomic<uint64_t> reached_{0};  // how many of them are known to be done
  std::mutex polling_;                // guards the rest
  EventRef polled_;                   // reached when the first polled_position_ commands are done
  uint64_t polled_position_ = 0;
};

}  // namespace kernpack::opencl

#endif  // KERNPACK_BACKENDS_OPENCL_STREAM_H_
