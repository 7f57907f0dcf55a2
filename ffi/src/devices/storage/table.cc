#include "devices/storage/table.h"

#include <mutex>
#include <utility>
#include <vector>

#include "base/leaked.h"
#include "values/object/object.h"

namespace kernpack::host {

StorageTable& StorageTable::Get() { return Leaked<StorageTable>(); }

bool StorageTable::Find(const KeyView& key, KpAny* out) {
  const auto lock = lock_.Read();
  const auto place = values_.find(key);
  if (place == values_.end()) return false;
  *out = place->second;
  kp_any_retain(out);
  return true;
}

void StorageTable::Set(const KeyView& key, KpAny value) {
  StoredKey stored(key);  // allocates before the lock
  KpAny old = kp_none();
  {
    std::lock_guard lock(lock_);
    const auto [place, added] = values_.try_emplace(std::move(stored), value);
    if (!added) old = std::exchange(place->second, value);
  }
  kp_any_release(&old);
}

bool StorageTable::SetOrFind(const KeyView& key, KpAny value, KpAny* out) {
  StoredKey stored(key);
  std::lock_guard lock(lock_);
  const auto [place, added] = values_.try_emplace(std::move(stored), value);
  if (added) return true;
  *out = place->second;
  kp_any_retain(out);
  return false;
}

bool StorageTable::Erase(const KeyView& key) {
  KpAny old = kp_none();
  {
    std::lock_guard lock(lock_);
    const auto place = values_.find(key);
    if (place == values_.end()) return false;
    old = place->second;
    values_.erase(place);
  }
  kp_any_release(&old);
  return true;
}

void StorageTable::EraseIf(const std::function<bool(const KeyView&)>& match) {
  std::vector<KpAny> dropped;
  {
    std::lock_guard lock(lock_);
    dropped.reserve(values_.size());
    for (auto place = values_.begin(); place != values_.end();) {
      if (match(place->first.view())) {
        dropped.push_back(place->second);
        place = values_.erase(place);
      } else {
        ++place;
      }
    }
  }
  for (KpAny& value : dropped) kp_any_release(&value);
}

void StorageTable::ForEach(const std::function<void(const KeyView&, const KpAny&)>& visit) {
  std::lock_guard lock(lock_);
  for (const auto& [key, value] : values_) visit(key.view(), value);
}

}  // namespace kernpack::host
