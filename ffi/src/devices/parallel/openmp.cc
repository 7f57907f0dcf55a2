#include "devices/parallel/openmp.h"

#include <dlfcn.h>

#include "base/fork.h"
#include "base/loaded_libraries.h"

namespace kernpack::host {
namespace {

constinit LookedUp<OpenMp> g_openmp;

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

const OpenMp* FindOpenMp() noexcept { return InForkedChild() ? nullptr : g_openmp.Get(Search); }

}  // namespace kernpack::host
