#include "parallel/openmp.h"

#include <dlfcn.h>

#include <atomic>
#include <new>

#include "base/fork.h"
#include "base/loaded.h"

namespace kernpack::host {
namespace {

constinit std::atomic<const OpenMp*> g_found{nullptr};
constinit std::atomic<unsigned long long> g_absent_at{0};

bool Bind(void* library, OpenMp* out) {
  out->parallel = reinterpret_cast<decltype(out->parallel)>(dlsym(library, "GOMP_parallel"));
  out->max_threads = reinterpret_cast<decltype(out->max_threads)>(dlsym(library, "omp_get_max_threads"));
  out->in_parallel = reinterpret_cast<decltype(out->in_parallel)>(dlsym(library, "omp_in_parallel"));
  return out->parallel != nullptr && out->max_threads != nullptr && out->in_parallel != nullptr;
}

bool Search(OpenMp* out) {
  // LLVM's runtimes (libomp, Intel's libiomp5) speak GNU's entry points too. Frameworks bundle them under hashed names.
  for (const char* name : {"libgomp", "libiomp5", "libomp"}) {
    void* library = FindLoaded(name);
    if (library != nullptr && Bind(library, out)) return true;
  }
  return Bind(RTLD_DEFAULT, out);  // linked into the program itself
}

}  // namespace

const OpenMp* FindOpenMp() noexcept {
  if (InForkedChild()) return nullptr;
  if (const OpenMp* found = g_found.load(std::memory_order_acquire)) return found;
  const unsigned long long loads = LoadCount();
  if (g_absent_at.load(std::memory_order_relaxed) == loads) return nullptr;
  OpenMp found{};
  if (!Search(&found)) {
    g_absent_at.store(loads, std::memory_order_relaxed);
    return nullptr;
  }
  const OpenMp* none = nullptr;
  const auto* kept = new (std::nothrow) OpenMp(found);  // for ever; threads that race here agree on the first
  if (kept == nullptr) return nullptr;
  if (g_found.compare_exchange_strong(none, kept, std::memory_order_acq_rel)) return kept;
  delete kept;
  return none;
}

}  // namespace kernpack::host
