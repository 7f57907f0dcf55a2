#include "guests/peer/library.h"

#include <dlfcn.h>
#include <signal.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include <kernpack/host/host.h>

#include "base/fork.h"
#include "base/guard.h"
#include "base/leaked.h"
#include "guests/peer/version.h"

namespace kernpack::host {
namespace {

constexpr const char* kName = "libtvm_ffi.so";

struct PeerState {
  ForkMutex mutex{LockRank::kNames};  // guards the path
  std::string path;                   // as kp_peer_set_library gave it
  std::atomic<bool> ready{false};
  PeerLibrary library{};

  std::string Path() {
    const std::lock_guard lock(mutex);
    return path;
  }
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
  // The file that is checked is the one that is opened: a bare name would be searched for.
  const std::unique_ptr<char, decltype(&std::free)> file(realpath(named, nullptr), &std::free);
  if (!file) {
    *why = std::string(" (") + named + ": cannot open shared object file: " + std::strerror(errno) + ")";
    return nullptr;
  }
  if (CheckPeerFile(file.get()) != 0) return nullptr;
  const KeepSignalHandlers keep;
  const NoFork no_fork;
  void* handle = dlopen(file.get(), RTLD_LAZY | RTLD_GLOBAL | RTLD_NODELETE);
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
  if (state.ready.load(std::memory_order_acquire)) return 0;
  std::string why;
  kp_error_clear();
  void* handle = Open(state.Path(), &why);
  if (!handle && kp_error_pending()) return -1;
  if (!handle) {
    return kp_raise(
        "ImportError",
        "kernpack.load: '%s' was built with apache-tvm-ffi and needs its library %s, which was not found%s; run "
        "`pip install apache-tvm-ffi`, or set KERNPACK_TVM_FFI_LIB to the library's path",
        path, kName, why.c_str());
  }
  const PeerVersion version = GetPeerVersion(handle);
  if (!IsSupported(version) || !Find(handle, "TVMFFIEnvSetStream", &state.library.set_stream) ||
      !Find(handle, "TVMFFIEnvSetDLPackManagedTensorAllocator", &state.library.set_allocator)) {
    return kp_raise(
        "ImportError",
        "kernpack.load: '%s' was built with apache-tvm-ffi: expected its library in version %s, got %u.%u.%u "
        "(TVMFFIGetVersion); run `pip install 'apache-tvm-ffi>=0.1.8,<0.2'`",
        path, kPeerRange, version.major, version.minor, version.patch);
  }
  state.ready.store(true, std::memory_order_release);
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
