#include "base/intern.h"

#include <mutex>
#include <string>
#include <unordered_set>

#include "base/fork.h"
#include "base/leaked.h"

namespace kernpack::host {
namespace {

struct Interned {
  ForkMutex mutex{LockRank::kNames};
  std::unordered_set<std::string> texts;
};

}  // namespace

const char* Intern(std::string_view text) {
  auto& interned = Leaked<Interned>();
  std::lock_guard lock(interned.mutex);
  return interned.texts.emplace(text).first->c_str();
}

}  // namespace kernpack::host
