
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include <kernpack/abi.h>
#include <kernpack/host/host.h>

#include "shared/bytes.h"
#include "base/fork.h"
#include "base/leaked.h"
#include "base/loader/digest.h"
#include "base/loader/verify.h"
#include "base/loader/platform.h"
#include "base/os/files.h"
#include "base/os/path.h"

namespace kernpack::host {
namespace {

using nlohmann::json;

constexpr int kFormat = 1;
constexpr const char* kVariable = "KERNPACK_REQUIRE_LOCK";
constexpr const char* kDefault = "kernpack.lock";  // of the working directory

// "" where none is required.
std::string LockPath() {
  std::string text = os::GetVariable(kVariable);
  if (text == "0") return {};
  return text == "1" ? kDefault : text;
}

int ReadLock(const char* function, const std::string& path, platform::SourceFile* file) {
  if (file->Open(path.c_str()) == 0 && file->Read() == 0) return 0;
  KpAny error = kp_none();
  kp_error_take(function, -1, &error);
  const std::string why(View(reinterpret_cast<const KpErrorObject*>(error.v.v_obj)->message));
  kp_any_release(&error);
  return kp_raise("ImportError",
                  "%s: %s is set, but the lock '%s' can't be read (%s); `kernpack lock` writes ./%s, and "
                  "%s=PATH names another one",
                  function, kVariable, path.c_str(), why.c_str(), kDefault, kVariable);
}

// Why the text isn't a lock; empty where it is one.
std::string Fault(const json& lock) {
  if (lock.is_discarded()) return "it isn't JSON";
  if (!lock.is_object() || !lock.contains("kernpack_lock")) return "it has no key \"kernpack_lock\"";
  if (lock["kernpack_lock"] != kFormat) {
    return "its format is " + lock["kernpack_lock"].dump(-1, ' ', true, json::error_handler_t::replace) +
           ", this version reads 1";
  }
  if (!lock.contains("wheels") || !lock["wheels"].is_array()) return "it has no list \"wheels\"";
  for (const json& wheel : lock["wheels"]) {
    if (!wheel.is_object()) return "an entry of \"wheels\" isn't an object";
    for (const char* key : {"name", "version"}) {
      if (!wheel.contains(key) || !wheel[key].is_string()) return std::string("a wheel has no \"") + key + "\"";
    }
    if (!wheel.contains("abi") || !(wheel["abi"].is_null() || wheel["abi"].is_number_unsigned()))
      return "a wheel has no \"abi\"";
    if (!wheel.contains("files") || !wheel["files"].is_object()) return "a wheel has no \"files\"";
    for (const json& hash : wheel["files"]) {
      if (!hash.is_string()) return "a file has no digest";
    }
  }
  return {};
}

// True if `path` ends with the path of the locked file: "site-packages/kernels/ops.so" with "kernels/ops.so".
bool EndsWith(std::string_view path, std::string_view locked) {
  return path == locked ||
         (path.size() > locked.size() && path.ends_with(locked) && path[path.size() - locked.size() - 1] == '/');
}

std::string GetName(const json& wheel) {
  return wheel["name"].get<std::string>() + " " + wheel["version"].get<std::string>();
}

int RefuseUnlisted(const char* function, const char* path, const std::string& hash, const json& lock,
                   const std::string& lock_path) {
  for (const json& wheel : lock["wheels"]) {
    for (const auto& [file, locked] : wheel["files"].items()) {
      if (!EndsWith(os::WithSlashes(path), file)) continue;
      return kp_raise("ImportError",
                      "%s: '%s' isn't the file that the lock '%s' lists for %s: the lock says %s, the file has %s; "
                      "install that version again, or run `kernpack lock` if the change is wanted",
                      function, path, lock_path.c_str(), GetName(wheel).c_str(), locked.get<std::string>().c_str(),
                      hash.c_str());
    }
  }
  return kp_raise("ImportError",
                  "%s: '%s' isn't in the lock '%s', and %s refuses everything else; install its wheel and run "
                  "`kernpack lock`, or unset %s",
                  function, path, lock_path.c_str(), kVariable, kVariable);
}

// A lock as it was read.
struct Lock {
  std::string path;
  platform::FileState state;
  std::string text;
  json content;
  std::string fault;  // why it isn't a lock; empty where it is one
  std::unordered_map<std::string, const json*> wheels;  // by the hash of a file; of several, the first
};

struct LastLock {
  ForkMutex mutex{LockRank::kNames};
  std::shared_ptr<const Lock> lock;
};

std::shared_ptr<const Lock> Parsed(const std::string& path, const platform::SourceFile& file) {
  auto lock = std::make_shared<Lock>();
  lock->path = path;
  lock->state = file.state();
  lock->text.assign(file.bytes().begin(), file.bytes().end());
  lock->content = json::parse(lock->text, nullptr, false);
  lock->fault = Fault(lock->content);
  if (!lock->fault.empty()) return lock;
  for (const json& wheel : lock->content["wheels"]) {
    for (const json& hash : wheel["files"]) lock->wheels.emplace(hash.get_ref<const std::string&>(), &wheel);
  }
  return lock;
}

// The lock that the file holds now: every call asks for the file's state, and reads it where that is another one, or doesn't tell every
// change. It is taken apart only when its text is another one. NULL with ImportError raised.
std::shared_ptr<const Lock> GetLock(const char* function, const std::string& path) {
  auto& last = Leaked<LastLock>();
  std::shared_ptr<const Lock> known;
  {
    const std::lock_guard guard(last.mutex);
    if (last.lock && last.lock->path == path) known = last.lock;
  }
  if (known && known->state.settled && known->state.text == platform::StateOfFile(path.c_str()).text) return known;
  platform::SourceFile file;
  if (ReadLock(function, path, &file) != 0) return nullptr;
  const auto text = file.bytes();
  const bool same = known && std::equal(text.begin(), text.end(), known->text.begin(), known->text.end());
  // Once the state is settled it is kept with the text.
  if (same && !file.state().settled) return known;
  std::shared_ptr<const Lock> read = Parsed(path, file);
  const std::lock_guard guard(last.mutex);
  last.lock = read;
  return read;
}

}  // namespace

bool LockIsRequired() { return !LockPath().empty(); }

int VerifyAgainstLock(const char* function, const char* path, const std::string& digest) {
  const std::string lock_path = LockPath();
  if (lock_path.empty()) return 0;
  const std::shared_ptr<const Lock> lock = GetLock(function, lock_path);
  if (!lock) return -1;
  if (!lock->fault.empty()) {
    return kp_raise("ImportError", "%s: '%s' isn't a lock file: %s; `kernpack lock` writes it anew", function,
                    lock_path.c_str(), lock->fault.c_str());
  }
  const std::string hash = "sha256=" + DigestText(digest);
  const auto found = lock->wheels.find(hash);
  if (found == lock->wheels.end()) return RefuseUnlisted(function, path, hash, lock->content, lock_path);
  const json& wheel = *found->second;
  if (wheel["abi"].is_null() || wheel["abi"] == KP_ABI_MAJOR) return 0;
  return kp_raise("ImportError",
                  "%s: '%s' is of %s, which the lock '%s' lists for ABI %llu; this host has ABI %d, so install "
                  "a kernpack of that ABI, or a build of the wheel for this one",
                  function, path, GetName(wheel).c_str(), lock_path.c_str(),
                  static_cast<unsigned long long>(wheel["abi"].get<uint64_t>()), KP_ABI_MAJOR);
}

}  // namespace kernpack::host
