// Backends from shared objects: the runtime's own, which lie beside the library, and those that KERNPACK_BACKENDS names.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>
#include <string>

#include <kernpack/host/device.h>

#include "shared/bytes.h"
#include "base/fork.h"
#include "base/guard.h"
#include "base/leaked.h"
#include "base/loaded_libraries.h"
#include "base/os/files.h"
#include "base/os/path.h"
#include "base/abi_version.h"
#include "devices/registry.h"
#include "base/loader/digest.h"
#include "base/loader/verify.h"
#include "base/loader/image.h"
#include "base/loader/platform.h"
#include "base/log.h"
#include "values/object/object.h"

namespace kernpack::host {
namespace {

constexpr const char* kOwnPlugins[] = {KP_LIBRARY_FILE("kernpack_opencl"), KP_LIBRARY_FILE("kernpack_cuda")};

// Not a ForkMutex: it may be wanted while other locks are held, and plugins' static constructors run under it. A child that
// was forked in the midst of it starts over.
struct Discovery {
  std::recursive_mutex mutex;
  std::atomic<bool> done{false};
  bool begun = false;

  Discovery() { OnForkedChild(StartOver); }
  static void StartOver() {
    auto& discovery = Leaked<Discovery>();
    new (&discovery.mutex) std::recursive_mutex;
    discovery.begun = false;
  }
};

void Try(const std::string& path) {
  if (LoadPlugin(path.c_str()) == 0) return;
  OwnedAny error;
  kp_error_take("kp_backend_load", -1, error.out());
  const auto* object = reinterpret_cast<const KpErrorObject*>(error.get().v.v_obj);
  const std::string reason(View(object->message));
  Log(KP_LOG_WARNING, reason);
  NoteFailedPlugin({path, reason});
}

std::string OwnFolder() {
  const std::string path = OwnPath();
  return path.substr(0, path.size() - os::FileName(path).size());
}

void LoadAll() {
  const std::string folder = OwnFolder();
  for (const char* name : kOwnPlugins) {
    const std::string path = folder + name;
    if (!folder.empty() && os::Exists(path.c_str())) Try(path);
  }
  const std::string listed = os::GetVariable("KERNPACK_BACKENDS");
  std::string_view rest = listed;
  while (!rest.empty()) {
    const std::string_view path = rest.substr(0, rest.find(os::kListSeparator));
    if (!path.empty()) Try(std::string(path));
    rest.remove_prefix(std::min(path.size() + 1, rest.size()));
  }
}

// 0 where the file may be loaded, as far as can be told from it; -1 where it is for another major of device_api.h, and then nothing of
// it has run.
int RefuseBackendOfOtherMajor(const char* path) {
  platform::SourceFile file;
  if (file.Open(path) != 0 || file.Read() != 0) {
    kp_error_clear();  // the dynamic linker says it better, and looks in more places
    return 0;
  }
  const std::string query = QueryOfOtherMajor(file.bytes(), KP_BACKEND_QUERY_PREFIX, KP_BACKEND_QUERY_SYMBOL);
  if (query.empty()) return 0;
  const std::string major = query.substr(std::string_view(KP_BACKEND_QUERY_PREFIX).size());
  const std::string text = OtherMajorText(
      "needs a host of device ABI " + major + ".x (it exports " + query + ")", "device ABI", KP_DEVICE_ABI_VERSION,
      ParseMajor(query, KP_BACKEND_QUERY_PREFIX), "install a newer build of the backend");
  return kp_raise("ValueError", "kp_backend_load: '%s' %s", path, text.c_str());
}

// 0 where no lock is required, or it lists the file.
int RequireLocked(const char* path) {
  if (!LockIsRequired()) return 0;
  platform::SourceFile file;
  if (file.Open(path) != 0 || file.Read() != 0) return -1;
  return VerifyAgainstLock("kp_backend_load", path, Digest(file.bytes()));
}

void* OpenAlone(const char* path, std::string* why) {
  const NoFork no_fork;
  return OpenForGood(path, Binding::kNow, why);
}

}  // namespace

int LoadPlugin(const char* path) {
  if (path == nullptr || *path == '\0') return kp_raise("ValueError", "kp_backend_load: the path is empty");
  if (RequireLocked(path) != 0 || RefuseBackendOfOtherMajor(path) != 0) return -1;
  std::string why;
  void* library = OpenAlone(path, &why);
  if (library == nullptr) {
    return kp_raise("OSError", "kp_backend_load: '%s' cannot be loaded: %s", path, why.c_str());
  }
  const auto query = reinterpret_cast<KpBackendQuery>(FindInLibrary(library, KP_BACKEND_QUERY_SYMBOL));
  if (query == nullptr) {
    return kp_raise("ValueError",
                    "kp_backend_load: '%s' isn't a backend plugin: it does not export " KP_BACKEND_QUERY_SYMBOL
                    " (kernpack/device_api.h)",
                    path);
  }
  int32_t index = 0;
  for (; const KpBackend* backend = query(index); ++index) {
    if (RegisterBackend(backend, path) != 0) return -1;
  }
  return index != 0 ? 0 : kp_raise("ValueError", "kp_backend_load: '%s' offers no backend", path);
}

void DiscoverPlugins() {
  auto& discovery = Leaked<Discovery>();
  if (discovery.done.load(std::memory_order_acquire)) return;
  const std::lock_guard lock(discovery.mutex);
  if (discovery.begun || discovery.done.load(std::memory_order_relaxed)) return;  // a plugin's constructor asks
  discovery.begun = true;
  LoadAll();
  discovery.done.store(true, std::memory_order_release);
}

}  // namespace kernpack::host

using namespace kernpack::host;

int kp_backend_load(const char* path) {
  return Guard("kp_backend_load", [&] { return LoadPlugin(path); });
}
