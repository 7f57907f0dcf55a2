#include "observe/profile/entry.h"

#include <atomic>
#include <map>
#include <mutex>
#include <tuple>

#include "base/fork.h"
#include "base/leaked.h"
#include "modules/loaded_module.h"
#include "base/call_flags.h"
#include "observe/profile/nvtx.h"
#include "observe/profile/thread_log.h"
#include "values/tensor/dltensor.h"

namespace kernpack::host::profile {
namespace {

struct Entries {
  ForkMutex mutex{LockRank::kNames};
  std::map<std::tuple<const KpLoadedFunction*, KpSafeCall, void*>, Entry> all;
};

constexpr int kDeepest = 4;  // of lists within lists; what lies deeper isn't counted

uint64_t CountBytes(const KpAny* values, int64_t count, int depth = 0) {
  uint64_t bytes = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (const KpDLTensor* tensor = kp_any_tensor(&values[i])) {
      bytes += static_cast<uint64_t>(NumBytes(*tensor));
    } else if ((values[i].type_index == KP_TYPE_ARRAY || values[i].type_index == KP_TYPE_LIST) && depth < kDeepest) {
      const auto* list = reinterpret_cast<const KpSequenceObject*>(values[i].v.v_obj);
      bytes += CountBytes(list->data, list->size, depth + 1);
    }
  }
  return bytes;
}

int Called(const Entry& entry, const KpAny* args, int32_t num_args, KpAny* result) {
  const NvtxRange range(entry.name.c_str());
  return entry.call(entry.self, args, num_args, result);
}

int CallProfiled(void* self, const KpAny* args, int32_t num_args, KpAny* result) {
  const auto* entry = static_cast<const Entry*>(self);
  ThreadLog* log = Profiling() ? ThreadLog::OfThisThread() : nullptr;
  if (log == nullptr) return entry->call(entry->self, args, num_args, result);
  Event event{entry, 0, 0, log->nested, CountBytes(args, num_args), 0};
  log->nested = 0;
  event.begin = Now();
  const int rc = Called(*entry, args, num_args, result);
  event.end = Now();
  const uint64_t outside = event.nested;
  event.nested = log->nested;
  event.failed = rc != 0;
  log->nested = outside + (event.end - event.begin);
  log->Add(event);
  return rc;
}

const char* FindTarget(const KpLoadedFunction* function, KpSafeCall call) {
  for (const Variant& variant : Internal(function)->variants) {
    if (variant.definition->call == call) return variant.info().target;
  }
  return nullptr;
}

}  // namespace

void StandIn(const KpLoadedFunction* function, KpSafeCall variant_call, KpSafeCall* call, void** self) {
  if (*call == &CallProfiled) return;
  std::atomic<const void*>& last = Internal(function)->last_profiled;
  const auto* known = static_cast<const Entry*>(last.load(std::memory_order_acquire));
  if (known != nullptr && known->call == *call && known->self == *self) {
    *call = &CallProfiled;
    *self = const_cast<Entry*>(known);
    return;
  }
  auto& entries = Leaked<Entries>();
  const std::lock_guard lock(entries.mutex);
  const Entry made{function, FindTarget(function, variant_call), *call, *self,
                   std::string(function->module_name) + "." + function->name};
  Entry& entry = entries.all.try_emplace({function, *call, *self}, made).first->second;
  last.store(&entry, std::memory_order_release);
  *call = &CallProfiled;
  *self = &entry;
}

}  // namespace kernpack::host::profile
