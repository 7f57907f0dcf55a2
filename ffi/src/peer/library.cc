#include "peer/library.h"

#include <dlfcn.h>
#include <signal.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <string>

#include <kernpack/host/host.h>

#include "base/guard.h"
#include "base/leaked.h"

namespace kernpack::host {
namespace {

constexpr const char* kName = "libtvm_ffi.so";

struct PeerState {
  std::mutex mutex;
  std::string path;  // as kp_peer_set_library gave it
  bool ready = false;
  PeerLibrary library{};
};

// The library installs handlers for fatal signals when it is loaded; the process's own come back.
class KeepSignalHandlers {
 public:
  KeepSignalHandlers() {
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &saved_[i]);
  }
  KeepSignalHandlers(const KeepSignalHandlers&) = delete;
  KeepSignalHandlers& operator=(const KeepSignalHandlers&) = delete;
  ~KeepSignalHandlers() {
    for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &saved_[i], nullptr);
  }

 private:
  static constexpr std::array<int, 5> kSignals{SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
  std::array<struct sigaction, kSignals.size()> saved_{};
};

// Opens the library for everybody: modules built with its SDK may name it as a dependency or may not.
void* Open(const std::string& path, std::string* why) {
  if (void* loaded = dlopen(kName, RTLD_LAZY | RTLD_GLOBAL | RTLD_NOLOAD)) return loaded;
  (void)dlerror();
  const char* named = std::getenv("KERNPACK_TVM_FFI_LIB");
  if (!named || !*named) named = path.c_str();
  if (!*named) return nullptr;
  const KeepSignalHandlers keep;
  void* handle = dlopen(named, RTLD_LAZY | RTLD_GLOBAL | RTLD_NODELETE);
  if (!handle) *why = std::string(" (") + dlerror() + ")";
  return handle;
}

template <class F>
bool Find(void* handle, const char* name, F* out) {
  *out = reinterpret_cast<F>(dlsym(handle, name));
  return *out != nullptr;
}

}  // namespace

int PeerRequire(const char* path) {
  PeerState& state = Leaked<PeerState>();
  const std::lock_guard lock(state.mutex);
  if (state.ready) return 0;
  std::string why;
  void* handle = Open(state.path, &why);
  if (!handle) {
    return kp_raise(
        "ImportError",
        "kernpack.load: '%s' was built with apache-tvm-ffi and needs its library %s, which was not found%s; run "
        "`pip install apache-tvm-ffi`, or set KERNPACK_TVM_FFI_LIB to the library's path",
        path, kName, why.c_str());
  }
  if (!Find(handle, "TVMFFIEnvSetStream", &state.library.set_stream) ||
      !Find(handle, "TVMFFIEnvSetDLPackManagedTensorAllocator", &state.library.set_allocator)) {
    return kp_raise("ImportError",
                    "kernpack.load: '%s' needs apache-tvm-ffi 0.1.5 or newer; run `pip install -U apache-tvm-ffi`",
                    path);
  }
  state.ready = true;
  return 0;
}

const PeerLibrary& Peer() { return Leaked<PeerState>().library; }

}  // namespace kernpack::host

extern "C" int kp_peer_set_library(const char* path) {
  using namespace kernpack::host;
  return Guard("kp_peer_set_library", [path] {
    PeerState& state = Leaked<PeerState>();
    const std::lock_guard lock(state.mutex);
    state.path = path ? path : "";
    return 0;
  });
}
