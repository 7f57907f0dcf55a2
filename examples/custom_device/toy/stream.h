// Queues of work, each with a thread of its own, and points in them that others wait for.
#ifndef TOY_STREAM_H_
#define TOY_STREAM_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace toy {

class Stream;

// Recorded any number of times; waiting is for the last record. One that was never recorded is reached.
class Event : public std::enable_shared_from_this<Event> {
 public:
  void Record(Stream* stream);
  void MakeWait(Stream* stream);
  void Sync();
  bool reached();
  // When the last record was reached.
  std::chrono::steady_clock::time_point time();

 private:
  void WaitFor(uint64_t record);

  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t recorded_ = 0;
  uint64_t reached_ = 0;
  std::chrono::steady_clock::time_point time_;
};

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // Starts the thread, which ends once the stream is closed and empty.
  static std::shared_ptr<Stream> Start();

  void Queue(std::function<void()> work);
  void Sync();
  bool empty();
  void Close();

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;  // the first is running
  bool closed_ = false;
};

}  // namespace toy

#endif  // TOY_STREAM_H_
