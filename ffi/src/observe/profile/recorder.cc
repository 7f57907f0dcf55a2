#include "observe/profile/recorder.h"

#include <algorithm>
#include <cstdio>

#include "base/call_flags.h"
#include "base/os/thread.h"

namespace kernpack::host::profile {

constinit thread_local ThreadLog* ThreadLog::mine_ = nullptr;
static constinit thread_local bool t_ended = false;

// Hands over what is left when its thread ends.
struct ThreadEnd {
  ~ThreadEnd() {
    ThreadLog* log = ThreadLog::mine_;
    t_ended = true;
    if (log == nullptr) return;
    ThreadLog::mine_ = nullptr;
    Recorder& recorder = Recorder::Get();
    {
      const std::lock_guard lock(recorder.mutex);
      try {
        recorder.CatchUp(log);
      } catch (const std::bad_alloc&) {
        std::fputs("kernpack: profile: out of memory for the last calls of a thread; the profile omits them\n", stderr);
      }
      recorder.logs.erase(log);
    }
    delete log;
  }
};

// In a forked child, where the other threads and what they did are the parent's: profiles begin anew.
void ForgetParent() {
  Recorder& recorder = Recorder::Get();
  const std::lock_guard lock(recorder.mutex);
  recorder.logs.clear();  // leaked: their threads don't exist here
  if (ThreadLog::mine_ != nullptr) {
    ThreadLog::mine_->chunk_->size.store(0, std::memory_order_relaxed);
    ThreadLog::mine_->chunk_->thread = os::GetProcessNumber();
    recorder.logs.insert(ThreadLog::mine_);
  }
  for (KpProfile* profile : recorder.running) {
    const uint64_t max_events = profile->max_events;
    *profile = KpProfile{};
    profile->max_events = max_events;
    profile->begin = Now();
  }
}

namespace {

[[maybe_unused]] const bool registered = (OnForkedChild(&ForgetParent), true);

std::shared_ptr<Chunk> NewChunk() {
  auto chunk = std::make_shared<Chunk>();
  chunk->thread = os::GetThreadNumber();
  chunk->thread_name = os::GetThreadName();
  return chunk;
}

void Take(KpProfile* profile, const std::shared_ptr<Chunk>& chunk, uint32_t from, uint32_t to) {
  if (from >= to) return;
  for (uint32_t i = from; i < to; ++i) {
    const Event& event = chunk->events[i];
    if (event.begin < profile->begin) continue;  // it was in progress
    const uint64_t took = event.end - event.begin;
    const uint64_t self = took - std::min(took, event.nested);
    profile->totals[event.entry] += Totals{1, event.failed, event.bytes, took, self, took, took};
  }
  if (profile->kept + (to - from) > profile->max_events) {
    profile->left_out += to - from;
    return;
  }
  profile->kept += to - from;
  profile->slices.push_back({chunk, from, to});
}

}  // namespace

ThreadLog* ThreadLog::Make() noexcept {
  if (t_ended) return nullptr;
  try {
    thread_local ThreadEnd at_end;
    static_cast<void>(&at_end);
    auto log = std::make_unique<ThreadLog>();
    log->chunk_ = NewChunk();
    Recorder& recorder = Recorder::Get();
    const std::lock_guard lock(recorder.mutex);
    recorder.logs.insert(log.get());
    return mine_ = log.release();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

bool ThreadLog::HandOver() noexcept {
  Recorder& recorder = Recorder::Get();
  const std::lock_guard lock(recorder.mutex);
  try {
    std::shared_ptr<Chunk> next = NewChunk();
    recorder.CatchUp(this);
    chunk_ = std::move(next);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void Recorder::Begin(KpProfile* profile) {
  for (const ThreadLog* log : logs) {
    profile->read[log] = log->chunk()->size.load(std::memory_order_acquire);
  }
  profile->begin = Now();
  running.insert(profile);
  g_profiling.fetch_add(1, std::memory_order_relaxed);
}

void Recorder::End(KpProfile* profile) {
  if (profile->end != 0) return;
  g_profiling.fetch_sub(1, std::memory_order_relaxed);
  CatchUp(profile);
  profile->end = Now();
  running.erase(profile);
  profile->read.clear();
}

void Recorder::CatchUp(KpProfile* profile) {
  if (profile->end != 0) return;
  for (const ThreadLog* log : logs) {
    const uint32_t size = log->chunk()->size.load(std::memory_order_acquire);
    uint32_t& read = profile->read[log];
    Take(profile, log->chunk(), read, size);
    read = size;
  }
}

void Recorder::CatchUp(const ThreadLog* log) {
  const uint32_t size = log->chunk()->size.load(std::memory_order_acquire);
  for (KpProfile* profile : running) {
    const auto found = profile->read.find(log);
    Take(profile, log->chunk(), found == profile->read.end() ? 0 : found->second, size);
    profile->read.erase(log);
  }
}

}  // namespace kernpack::host::profile
