#include "storage/single_flight.h"

#include <condition_variable>
#include <list>
#include <mutex>

#include <kernpack/host/host.h>

#include "base/bytes.h"
#include "base/fork.h"
#include "base/leaked.h"
#include "object/object.h"
#include "storage/table.h"

namespace kernpack::host {
namespace {

struct Flight;

// What a thread that waits is waiting for; guarded by the flights' mutex.
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
};

void Flights::ForgetParents() {
  auto& flights = Leaked<Flights>();
  flights.list.remove_if([](const Flight& flight) { return flight.owner != &t_waiter; });
  new (&flights.ended) std::condition_variable_any();  // it may hold waiters of the parent
}

const Flight* FindFlight(const Flights& flights, const KeyView& key) {
  for (const Flight& flight : flights.list) {
    if (flight.key.view() == key) return &flight;
  }
  return nullptr;
}

// Whether waiting for `flight` would wait for this thread itself.
bool WouldWaitForSelf(const Flight* flight) {
  while (flight != nullptr) {
    if (flight->owner == &t_waiter) return true;
    flight = flight->owner->waits_for;
  }
  return false;
}

int RaiseCircle(const KeyView& key) {
  return kp_raise(
      "RuntimeError",
      "storage_get_or_init: key '%.*s': its factory asks, directly or through another thread, for the key it is "
      "making; ask for other keys before get_or_init",
      PrintLength(key.key), key.key.data());
}

int RunFactory(const KeyView& key, KpStorageFactory factory, void* context, KpAny* out) {
  OwnedAny made;
  if (factory(context, made.out()) != 0) return -1;
  KpAny kept = kp_none();
  if (kp_any_own(&made.get(), &kept) != 0) return -1;
  try {
    StorageTable::Get().Set(key, kept);
  } catch (...) {
    kp_any_release(&kept);
    throw;
  }
  *out = made.Take();
  return 0;
}

}  // namespace

int GetOrInit(const KeyView& key, KpStorageFactory factory, void* context, KpAny* out) {
  auto& table = StorageTable::Get();
  if (table.Find(key, out)) return 0;
  auto& flights = Leaked<Flights>();
  std::list<Flight> own;
  own.push_back(Flight{StoredKey(key), &t_waiter});
  std::unique_lock lock(flights.mutex);
  while (true) {
    if (table.Find(key, out)) return 0;
    const Flight* running = FindFlight(flights, key);
    if (running == nullptr) break;
    if (WouldWaitForSelf(running)) {
      lock.unlock();
      return RaiseCircle(key);
    }
    t_waiter.waits_for = running;
    flights.ended.wait(lock);
    t_waiter.waits_for = nullptr;
  }
  const auto mine = own.begin();
  flights.list.splice(flights.list.end(), own);
  lock.unlock();
  struct End {
    Flights& flights;
    std::list<Flight>::iterator mine;
    ~End() {
      std::list<Flight> ended;
      {
        std::lock_guard lock(flights.mutex);
        ended.splice(ended.end(), flights.list, mine);
      }
      flights.ended.notify_all();
    }
  } end{flights, mine};
  return RunFactory(key, factory, context, out);
}

}  // namespace kernpack::host
