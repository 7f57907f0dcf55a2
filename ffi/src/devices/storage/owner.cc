#include "devices/storage/table.h"

#include <array>
#include <atomic>
#include <functional>
#include <mutex>

#include "shared/bytes.h"
#include "base/fork.h"
#include "base/intern.h"
#include "base/leaked.h"

namespace kernpack::host {
namespace {

// A name's owner, for as long as the process: readers take no lock.
struct Node {
  const char* name;   // its address
  const char* owner;  // immortal text
  const Node* older;
};

constexpr size_t kBuckets = 64;

struct Renamed {
  ForkMutex mutex{LockRank::kHostState};  // for writers
  std::atomic<bool> any{false};
  std::array<std::atomic<const Node*>, kBuckets> buckets{};

  std::atomic<const Node*>& Bucket(const char* name) { return buckets[std::hash<const char*>()(name) / 16 % kBuckets]; }
};

}  // namespace

void KeepKeysUnder(const char* name, std::string_view owner) {
  auto& renamed = Leaked<Renamed>();
  const char* kept = Intern(owner);
  const std::lock_guard lock(renamed.mutex);
  std::atomic<const Node*>& bucket = renamed.Bucket(name);
  bucket.store(new Node{name, kept, bucket.load(std::memory_order_relaxed)}, std::memory_order_release);
  renamed.any.store(true, std::memory_order_release);
}

std::string_view OwnerOfKeys(KpBytes module) noexcept {
  auto& renamed = Leaked<Renamed>();
  if (!renamed.any.load(std::memory_order_acquire)) [[likely]]
    return View(module);
  const Node* node = renamed.Bucket(module.data).load(std::memory_order_acquire);
  while (node != nullptr && node->name != module.data) node = node->older;
  return node == nullptr ? View(module) : std::string_view(node->owner);
}

}  // namespace kernpack::host
