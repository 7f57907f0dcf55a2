
#include <cstdio>
#include <map>
#include <mutex>
#include <tuple>

#include "base/fork.h"
#include "base/guard.h"
#include "base/leaked.h"
#include "observe/check/call.h"
#include "base/call_flags.h"
#include "observe/check/text.h"

namespace kernpack::host::check {
namespace {

struct Entry {
  const KpLoadedFunction* function;
  KpSafeCall call;
  void* self;
};

// One for each function and variant that was called under checks; immortal, as functions are.
struct Entries {
  ForkMutex mutex{LockRank::kNames};
  std::map<std::tuple<const KpLoadedFunction*, KpSafeCall, void*>, Entry> all;
};

// Before the kernel runs, and in one write: the last line says which kernel a crash is of.
void Announce(const KpLoadedFunction& function, const KpAny* args, int32_t num_args) {
  const std::string line = "kernpack: " + CallText(function, args, num_args) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fflush(stderr);
}

int CallChecked(void* self, const KpAny* args, int32_t num_args, KpAny* result) {
  const auto* entry = static_cast<const Entry*>(self);
  if (!Checking()) return entry->call(entry->self, args, num_args, result);
  return Guard(entry->function->name, [&] {
    const CallInProgress in_progress;
    if (Tracing()) Announce(*entry->function, args, num_args);
    return CheckedCall(*entry->function, args, num_args).Run(entry->call, entry->self, result);
  });
}

}  // namespace

void StandIn(const KpLoadedFunction* function, KpSafeCall* call, void** self) {
  if (*call == &CallChecked) return;
  auto& entries = Leaked<Entries>();
  const std::lock_guard lock(entries.mutex);
  Entry& entry = entries.all.try_emplace({function, *call, *self}, Entry{function, *call, *self}).first->second;
  *call = &CallChecked;
  *self = &entry;
}

}  // namespace kernpack::host::check
