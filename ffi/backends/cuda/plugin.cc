// The plugin's one export: the backends cuda, cuda_host (pinned memory) and cuda_managed.
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>

#include "shared/target_kinds.h"

#include "backends/cuda/backend.h"
#include "backends/cuda/jit.h"
#include "backends/cuda/text.h"

namespace kernpack::cuda {
namespace {

// One for the three, opened with the first; never closed, so that nothing is called at process exit.
struct Shared {
  std::mutex mutex;
  const Backend* backend = nullptr;
};

Shared& State() {
  static Shared* const state = new Shared();
  return *state;
}

int OpenShared(const KpHost* host, int32_t device_type, const KpDeviceApi** out, KpAny* reason) {
  Shared& state = State();
  const std::lock_guard lock(state.mutex);
  if (state.backend == nullptr) {
    if (RegisterJit(host) != 0) return -1;  // before the driver, without which `kernpack warm` works too
    std::unique_ptr<Backend> opened;
    std::string why = EmulatorMistake();
    if (!why.empty() || !Backend::Open(host, DriverPath().c_str(), &opened, &why)) {
      *out = nullptr;
      SetText(std::move(why), reason);
      return 0;
    }
    state.backend = opened.release();
  }
  *out = new KpDeviceApi(MakeTable(state.backend, device_type));
  return 0;
}

int Open(const KpHost* host, int32_t device_type, const KpDeviceApi** out, KpAny* reason) noexcept {
  try {
    return OpenShared(host, device_type, out, reason);
  } catch (const std::exception& error) {
    return Raise(host, "RuntimeError", std::string("cuda: ") + error.what());
  } catch (...) {
    return Raise(host, "RuntimeError", "cuda: an unknown exception");
  }
}

constexpr const char* kTargetKinds[] = {host::kCudaKind, nullptr};

// At compile time, so that tools read the tables from the file.
constexpr KpBackend Describe(const char* name, int32_t device_type, const char* const* target_kinds) {
  KpBackend backend{};
  backend.struct_size = sizeof backend;
  backend.abi_version = KP_DEVICE_ABI_VERSION;
  backend.name = name;
  backend.device_type = device_type;
  backend.target_kinds = target_kinds;
  backend.open = Open;
  return backend;
}

}  // namespace
}  // namespace kernpack::cuda

extern "C" __attribute__((visibility("default"))) const KpBackend* kp_backend_v1(int32_t index) {
  using kernpack::cuda::Describe;
  static constexpr KpBackend backends[] = {Describe("cuda", KP_DEVICE_CUDA, kernpack::cuda::kTargetKinds),
                                           Describe("cuda_host", KP_DEVICE_CUDA_HOST, nullptr),
                                           Describe("cuda_managed", KP_DEVICE_CUDA_MANAGED, nullptr)};
  return index >= 0 && index < static_cast<int32_t>(std::size(backends)) ? &backends[index] : nullptr;
}
