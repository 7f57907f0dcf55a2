
#include <chrono>
#include <condition_variable>
#include <list>
#include <mutex>
#include <string>

#include <kernpack/host/host.h>

#include "shared/bytes.h"
#include "base/fork.h"
#include "base/leaked.h"
#include "base/call_flags.h"
#include "devices/observers.h"
#include "base/services.h"
#include "base/log.h"
#include "values/object/object.h"
#include "devices/storage/table.h"

namespace kernpack::host {
namespace {

constexpr std::chrono::seconds kPatience{3};  // after which a log line names the key

struct Flight;

// The flight for which a thread waits; guarded by the mutex of the flights.
struct Waiter {
  const Flight* waits_for = nullptr;
};
constinit thread_local Waiter t_waiter;

struct Flight {
  StoredKey key;
  Waiter* owner;
};

struct Flights {
  Flights() { OnForkedChild(ForgetParents); }
  // The threads that would have ended these flights do not exist in a child.
  static void ForgetParents();

  ForkMutex mutex{LockRank::kFlight};
  std::condition_variable_any ended;
  std::list<Flight> list;  // a handful at most: only keys being made right now
  std::list<Waiter*> waiting;
};

void Flights::ForgetParents() {
  auto& flights = Leaked<Flights>();
  flights.list.remove_if([](const Flight& flight) { return flight.owner != &t_waiter; });
  flights.waiting.clear();
  new (&flights.ended) std::condition_variable_any();  // it may hold waiters of the parent
}

const Flight* FindFlight(const Flights& flights, const KeyView& key) {
  for (const Flight& flight : flights.list) {
    if (flight.key.view() == key) return &flight;
  }
  return nullptr;
}

// True if the owner of the flight waits for this thread, directly or through other threads.
bool OwnerWaitsForSelf(const Flight* flight) {
  while (flight != nullptr) {
    if (flight->owner == &t_waiter) return true;
    flight = flight->owner->waits_for;
  }
  return false;
}

int RaiseOwnKey(const KeyView& key) {
  return kp_raise("RuntimeError",
                  "storage_get_or_init: key '%.*s': its factory requests its own key; request other keys before "
                  "get_or_init",
                  PrintLength(key.key), key.key.data());
}

int RunFactory(const KeyView& key, KpStorageFactory factory, void* context, KpAny* out) {
  OwnedAny made;
  if (factory(context, made.out()) != 0) return -1;
  OwnedAny kept;
  if (check::Checking() && kObservers.stored(key, made.get()) != 0) return -1;
  if (kp_any_own(&made.get(), kept.out()) != 0) return -1;
  if (StorageTable::Get().SetOrFind(key, kept.get(), out)) {
    kept.Take();
    *out = made.Take();
  }
  return 0;
}

void LogWait(const KeyView& key) {
  std::string line("storage_get_or_init: a thread has waited for some seconds for key '");
  line.append(key.key).append("' of module '").append(key.module);
  line += "', which another thread's factory is making; if that factory waits for this thread, neither will ever end";
  Log(KP_LOG_WARNING, line);
}

// Waits until some flight ends, the user presses Ctrl-C (-1, raised), or a moment is over. `lock` is held before and after.
int WaitABit(Flights& flights, const Flight* running, std::unique_lock<ForkMutex>& lock) {
  constexpr std::chrono::milliseconds kMoment{50};
  const auto mine = flights.waiting.insert(flights.waiting.end(), &t_waiter);
  t_waiter.waits_for = running;
  const std::cv_status ended = flights.ended.wait_for(lock, kMoment);
  t_waiter.waits_for = nullptr;
  flights.waiting.erase(mine);
  if (ended == std::cv_status::no_timeout) return 0;
  lock.unlock();
  const int rc = service::check_interrupts(kp_host());
  lock.lock();
  return rc;
}

}  // namespace

int GetOrInit(const KeyView& key, KpStorageFactory factory, void* context, KpAny* out) {
  auto& table = StorageTable::Get();
  if (table.Find(key, out)) return 0;
  auto& flights = Leaked<Flights>();
  std::list<Flight> own;
  own.push_back(Flight{StoredKey(key), &t_waiter});
  std::unique_lock lock(flights.mutex);
  auto patience_ends = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    if (table.Find(key, out)) return 0;
    const Flight* running = FindFlight(flights, key);
    if (running == nullptr) break;
    if (OwnerWaitsForSelf(running)) {
      // Who makes it waits for this thread: it is made here, so that both go on, as they do when one of them comes first.
      if (running->owner != &t_waiter) break;
      lock.unlock();
      return RaiseOwnKey(key);
    }
    if (WaitABit(flights, running, lock) != 0) return -1;
    if (std::chrono::steady_clock::now() >= patience_ends) {
      patience_ends = std::chrono::steady_clock::time_point::max();
      LogWait(key);
    }
  }
  const auto mine = own.begin();
  flights.list.splice(flights.list.begin(), own);  // in front of one that this overtakes
  lock.unlock();
  struct End {
    Flights& flights;
    std::list<Flight>::iterator mine;
    ~End() {
      std::list<Flight> ended;
      {
        std::lock_guard lock(flights.mutex);
        ended.splice(ended.end(), flights.list, mine);
        for (Waiter* waiter : flights.waiting) {
          if (waiter->waits_for == &*mine) waiter->waits_for = nullptr;
        }
      }
      flights.ended.notify_all();
    }
  } end{flights, mine};
  return RunFactory(key, factory, context, out);
}

}  // namespace kernpack::host
