
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>

#include <nlohmann/json.hpp>

#include <kernpack/abi.h>
#include <kernpack/host/host.h>

#include "shared/bytes.h"
#include "base/fork.h"
#include "base/leaked.h"
#include "base/loader/digest.h"
#include "base/loader/verify.h"
#include "base/loader/platform.h"
#include "base/os/environment.h"
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

// The lock, read from the file at every call, but taken apart only when its text is another one.
struct LastLock {
  ForkMutex mutex{LockRank::kNames};
  std::string text;
  std::shared_ptr<const json> lock;
};

std::shared_ptr<const json> Parsed(std::span<const char> text) {
  auto& last = Leaked<LastLock>();
  const std::lock_guard guard(last.mutex);
  if (!last.lock || !std::equal(text.begin(), text.end(), last.text.begin(), last.text.end())) {
    last.lock = std::make_shared<const json>(json::parse(text.begin(), text.end(), nullptr, false));
    last.text.assign(text.begin(), text.end());
  }
  return last.lock;
}

}  // namespace

bool LockIsRequired() { return !LockPath().empty(); }

int VerifyAgainstLock(const char* function, const char* path, const std::string& digest) {
  const std::string lock_path = LockPath();
  if (lock_path.empty()) return 0;
  platform::SourceFile file;
  if (ReadLock(function, lock_path, &file) != 0) return -1;
  const std::shared_ptr<const json> parsed = Parsed(file.bytes());
  const json& lock = *parsed;
  if (const std::string fault = Fault(lock); !fault.empty()) {
    return kp_raise("ImportError", "%s: '%s' isn't a lock file: %s; `kernpack lock` writes it anew", function,
                    lock_path.c_str(), fault.c_str());
  }
  const std::string hash = "sha256=" + DigestText(digest);
  for (const json& wheel : lock["wheels"]) {
    for (const json& locked : wheel["files"]) {
      if (locked.get_ref<const std::string&>() != hash) continue;
      if (wheel["abi"].is_null() || wheel["abi"] == KP_ABI_MAJOR) return 0;
      return kp_raise("ImportError",
                      "%s: '%s' is of %s, which the lock '%s' lists for ABI %llu; this host has ABI %d, so install "
                      "a kernpack of that ABI, or a build of the wheel for this one",
                      function, path, GetName(wheel).c_str(), lock_path.c_str(),
                      static_cast<unsigned long long>(wheel["abi"].get<uint64_t>()), KP_ABI_MAJOR);
    }
  }
  return RefuseUnlisted(function, path, hash, lock, lock_path);
}

}  // namespace kernpack::host
