// The table of stored values, and the one factory run a key that makes a value, even when many threads ask at once.
#ifndef KERNPACK_SRC_DEVICES_STORAGE_TABLE_H_
#define KERNPACK_SRC_DEVICES_STORAGE_TABLE_H_

#include <functional>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include <kernpack/abi.h>

#include "base/fork.h"
#include "base/thread_index.h"
#include "devices/storage/key.h"

namespace kernpack::host {

// A lock whose readers do not meet: each thread locks a mutex of its own, a writer locks them all. Reads are many and from
// every thread, writes are one a key.
class ReadLock {
 public:
  // Held for reading. The critical section must not allocate, release objects or call out.
  std::unique_lock<ForkMutex> Read() { return std::unique_lock(slots_[ThreadIndex() % kSlots].mutex); }

  // Held for writing.
  void lock() {
    for (Slot& slot : slots_) slot.mutex.lock();
  }
  void unlock() {
    for (Slot& slot : slots_) slot.mutex.unlock();
  }

 private:
  // fork() holds every ForkMutex, and ThreadSanitizer gives up on a thread that holds more than 64 locks.
  static constexpr unsigned kSlots = 16;
  struct alignas(64) Slot {
    ForkMutex mutex{LockRank::kStorage};
  };
  Slot slots_[kSlots];
};

class StorageTable {
 public:
  static StorageTable& Get();

  // A new reference in *out; false when there is none. Does not allocate.
  bool Find(const KeyView& key, KpAny* out);
  // Takes over `value`; releases what was there.
  void Set(const KeyView& key, KpAny value);
  // Takes over `value` where there is none: true. Else false, and a new reference to what is there in *out.
  bool SetOrFind(const KeyView& key, KpAny value, KpAny* out);
  bool Erase(const KeyView& key);
  // Erases whatever `match` says, and releases it once the lock is free.
  void EraseIf(const std::function<bool(const KeyView&)>& match);
  void ForEach(const std::function<void(const KeyView&, const KpAny&)>& visit);

 private:
  ReadLock lock_;
  std::unordered_map<StoredKey, KpAny, KeyHash, KeyEqual> values_;
};

// Whose keys are whose, where different modules have one name.
// From now on, keys of the module whose table has its name at this address are kept under `owner`. A module's name says who asks
// for a key; the same text in two modules doesn't make them share.
void KeepKeysUnder(const char* name, std::string_view owner);

// The name under which the keys of a module are kept: the module's name, as long as it is the first module of that name. Any thread;
// takes no lock.
std::string_view OwnerOfKeys(KpBytes module) noexcept;

// The value of `key`, made by `factory` when absent. Other threads that ask for it wait, hearing Ctrl-C; when the factory fails the
// next of them runs its own. A factory that asks for its own key gets an error. Where threads' factories ask for each other's
// keys, the one that would close the circle makes the value itself, and everybody gets that: the same as if they had come one by one.
int GetOrInit(const KeyView& key, KpStorageFactory factory, void* context, KpAny* out);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_STORAGE_TABLE_H_
