// The profiles that run, the logs of the threads that they read, and a profile as text: a table for people, JSON, and the trace that
// Perfetto and chrome://tracing open.
#ifndef KERNPACK_SRC_OBSERVE_PROFILE_RECORDER_H_
#define KERNPACK_SRC_OBSERVE_PROFILE_RECORDER_H_

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/fork.h"
#include "base/leaked.h"
#include "observe/profile/thread_log.h"

namespace kernpack::host::profile {

struct Totals {
  uint64_t calls = 0, failed = 0, bytes = 0;
  uint64_t total = 0, self = 0, shortest = UINT64_MAX, longest = 0;  // nanoseconds

  Totals& operator+=(const Totals& more) {
    calls += more.calls;
    failed += more.failed;
    bytes += more.bytes;
    total += more.total;
    self += more.self;
    shortest = std::min(shortest, more.shortest);
    longest = std::max(longest, more.longest);
    return *this;
  }
};

// A part of a chunk: some calls of one thread, in the order in which they ended.
struct Slice {
  std::shared_ptr<const Chunk> chunk;
  uint32_t from, to;
};

std::string Table(const KpProfile& profile);
std::string Json(const KpProfile& profile);
std::string Trace(const KpProfile& profile);

}  // namespace kernpack::host::profile

// The record between begin and end.
struct KpProfile {
  uint64_t begin = 0, end = 0;  // end 0: it runs
  uint64_t max_events = 0;
  uint64_t kept = 0, left_out = 0;  // calls in `slices`, and those beyond max_events
  std::map<const kernpack::host::profile::Entry*, kernpack::host::profile::Totals> totals;
  std::vector<kernpack::host::profile::Slice> slices;
  std::map<const kernpack::host::profile::ThreadLog*, uint32_t>
      read;  // how much of a thread's chunk; 0 where it isn't here
};

namespace kernpack::host::profile {

struct Recorder {
  ForkMutex mutex{LockRank::kNames};
  std::set<ThreadLog*> logs;
  std::set<KpProfile*> running;

  static Recorder& Get() { return Leaked<Recorder>(); }
  // All under the lock.
  void Begin(KpProfile* profile);
  void End(KpProfile* profile);
  // Adds the records that threads have made meanwhile.
  void CatchUp(KpProfile* profile);
  // The same of one log, before it gets another chunk or goes.
  void CatchUp(const ThreadLog* log);
};

}  // namespace kernpack::host::profile

#endif  // KERNPACK_SRC_OBSERVE_PROFILE_RECORDER_H_
