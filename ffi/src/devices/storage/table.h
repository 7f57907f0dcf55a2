// The table of stored values.
#ifndef KERNPACK_SRC_DEVICES_STORAGE_TABLE_H_
#define KERNPACK_SRC_DEVICES_STORAGE_TABLE_H_

#include <functional>
#include <unordered_map>

#include "devices/storage/key.h"
#include "devices/storage/read_lock.h"

namespace kernpack::host {

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

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_DEVICES_STORAGE_TABLE_H_
