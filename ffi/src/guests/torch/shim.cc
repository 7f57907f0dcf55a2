#include "guests/torch/shim.h"

#include <atomic>

#include <kernpack/host/host.h>

#include "base/loaded_libraries.h"

namespace kernpack::torch {
namespace {

template <class Pointer>
bool Find(void* library, const char* name, Pointer* out) {
  *out = reinterpret_cast<Pointer>(host::FindInLibrary(library, name));
  return *out != nullptr;
}

int TooOld(void* library, const char* missing) {
  uint64_t (*version)() = nullptr;
  if (!Find(library, "aoti_torch_abi_version", &version)) {
    return kp_raise("ImportError",
                    "kernpack.torch: expected torch >= 2.10, got one that is much older; "
                    "run `pip install -U torch`");
  }
  return kp_raise("ImportError",
                  "kernpack.torch: expected torch >= 2.10, got %d.%d, which has no %s; "
                  "run `pip install -U torch`",
                  static_cast<int>(version() >> 56), static_cast<int>(version() >> 48 & 0xff), missing);
}

int Fill(void* library, Shim* out) {
#define KP_TORCH_REQUIRE_(name, result, parameters) \
  if (!Find(library, #name, &out->name)) return TooOld(library, #name);
#define KP_TORCH_TRY_(name, result, parameters) Find(library, #name, &out->name);
  KP_TORCH_FUNCTIONS(KP_TORCH_REQUIRE_)
  KP_TORCH_OPTIONAL_FUNCTIONS(KP_TORCH_TRY_)
#undef KP_TORCH_REQUIRE_
#undef KP_TORCH_TRY_
  return 0;
}

}  // namespace

// Two threads may both fill a table the first time; they write the same pointers, and one table is kept.
const Shim* FindShim() {
  static std::atomic<const Shim*> found{nullptr};
  if (const Shim* shim = found.load(std::memory_order_acquire)) return shim;
  void* library = host::FindLoaded(KP_LIBRARY_FILE("torch_cpu"));
  if (library == nullptr) {
    kp_raise("ImportError", "kernpack.torch: no libtorch is loaded in this process; import torch first");
    return nullptr;
  }
  auto* shim = new Shim();
  const Shim* expected = nullptr;
  if (Fill(library, shim) != 0) {
    delete shim;
    return nullptr;
  }
  if (found.compare_exchange_strong(expected, shim)) return shim;
  delete shim;
  return expected;
}

const CudaShim* FindCudaShim() {
  static std::atomic<const CudaShim*> found{nullptr};
  if (const CudaShim* shim = found.load(std::memory_order_acquire)) return shim;
  void* library = host::FindLoaded(KP_LIBRARY_FILE("torch_cuda"));
  auto* shim = new CudaShim();
  const CudaShim* expected = nullptr;
  if (library == nullptr || !Find(library, "aoti_torch_get_current_cuda_stream", &shim->get_current_stream) ||
      !Find(library, "aoti_torch_create_cuda_guard", &shim->create_guard) ||
      !Find(library, "aoti_torch_delete_cuda_guard", &shim->delete_guard)) {
    kp_raise("ImportError", "kernpack.torch: this torch has no CUDA support (libtorch_cuda is not loaded)");
    delete shim;
    return nullptr;
  }
  if (found.compare_exchange_strong(expected, shim)) return shim;
  delete shim;
  return expected;
}

int RaiseTorchError(const Shim& shim, const char* function, const char* doing) {
  const char* what = shim.torch_exception_get_what_without_backtrace != nullptr
                         ? shim.torch_exception_get_what_without_backtrace()
                         : nullptr;
  if (what == nullptr || *what == '\0') what = "see torch's own message on stderr";
  return kp_raise("RuntimeError", "%s: torch failed %s: %s", function, doing, what);
}

}  // namespace kernpack::torch
