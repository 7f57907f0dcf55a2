#include "stream.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace toy {

void Event::Record(Stream* stream) {
  uint64_t record = 0;
  {
    const std::lock_guard lock(mutex_);
    record = ++recorded_;
  }
  stream->Queue([self = shared_from_this(), record] {
    const std::lock_guard lock(self->mutex_);
    self->reached_ = std::max(self->reached_, record);
    self->time_ = std::chrono::steady_clock::now();
    self->changed_.notify_all();
  });
}

void Event::MakeWait(Stream* stream) {
  uint64_t record = 0;
  {
    const std::lock_guard lock(mutex_);
    record = recorded_;
  }
  stream->Queue([self = shared_from_this(), record] { self->WaitFor(record); });
}

void Event::WaitFor(uint64_t record) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return reached_ >= record; });
}

void Event::Sync() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&, record = recorded_] { return reached_ >= record; });
}

bool Event::reached() {
  const std::lock_guard lock(mutex_);
  return reached_ >= recorded_;
}

std::chrono::steady_clock::time_point Event::time() {
  const std::lock_guard lock(mutex_);
  return time_;
}

std::shared_ptr<Stream> Stream::Start() {
  auto stream = std::make_shared<Stream>();
  std::thread([stream] { stream->Run(); }).detach();
  return stream;
}

void Stream::Queue(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  work_.push_back(std::move(work));
  changed_.notify_all();
}

void Stream::Sync() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return work_.empty(); });
}

bool Stream::empty() {
  const std::lock_guard lock(mutex_);
  return work_.empty();
}

void Stream::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_all();
}

void Stream::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return !work_.empty() || closed_; });
    if (work_.empty()) return;
    auto& work = work_.front();
    lock.unlock();
    work();
    lock.lock();
    work_.pop_front();
    changed_.notify_all();
  }
}

}  // namespace toy
