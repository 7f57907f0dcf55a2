#include "storage/owner.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "base/bytes.h"
#include "base/fork.h"
#include "base/intern.h"
#include "base/leaked.h"

namespace kernpack::host {
namespace {

using Owners = std::unordered_map<const char*, const char*>;  // a name's address -> immortal text

struct Renamed {
  ForkMutex mutex{LockRank::kHostState};
  std::atomic<const Owners*> now{nullptr};  // replaced as a whole, and never freed: readers take no lock
};

}  // namespace

void KeepKeysUnder(const char* name, std::string_view owner) {
  auto& renamed = Leaked<Renamed>();
  const char* kept = Intern(owner);
  const std::lock_guard lock(renamed.mutex);
  const Owners* before = renamed.now.load(std::memory_order_relaxed);
  auto after = before ? std::make_unique<Owners>(*before) : std::make_unique<Owners>();
  (*after)[name] = kept;
  renamed.now.store(after.release(), std::memory_order_release);
}

std::string_view OwnerOfKeys(KpBytes module) noexcept {
  const Owners* owners = Leaked<Renamed>().now.load(std::memory_order_acquire);
  if (owners == nullptr) [[likely]]
    return View(module);
  const auto found = owners->find(module.data);
  return found == owners->end() ? View(module) : std::string_view(found->second);
}

}  // namespace kernpack::host
