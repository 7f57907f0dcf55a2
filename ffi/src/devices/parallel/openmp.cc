#include "devices/parallel/openmp.h"

#include "base/fork.h"
#include "base/loaded_libraries.h"

namespace kernpack::host {
namespace {

constinit LookedUp<OpenMp> g_openmp;

template <class Find>
bool Bind(const Find& find, OpenMp* out) {
  out->parallel = reinterpret_cast<decltype(out->parallel)>(find("GOMP_parallel"));
  out->max_threads = reinterpret_cast<decltype(out->max_threads)>(find("omp_get_max_threads"));
  out->in_parallel = reinterpret_cast<decltype(out->in_parallel)>(find("omp_in_parallel"));
  return out->parallel != nullptr && out->max_threads != nullptr && out->in_parallel != nullptr;
}

bool Search(OpenMp* out) {
  // LLVM's runtimes (libomp, Intel's libiomp5) speak GNU's entry points too. Frameworks bundle them under hashed names.
  for (const char* name : {"libgomp", "libiomp5", "libomp"}) {
    void* library = FindLoaded(name);
    if (library == nullptr) continue;
    if (Bind([library](const char* symbol) { return FindInLibrary(library, symbol); }, out)) return true;
  }
  return Bind(FindInProcess, out);  // linked into the program itself
}

}  // namespace

const OpenMp* FindOpenMp() noexcept { return InForkedChild() ? nullptr : g_openmp.Get(Search); }

}  // namespace kernpack::host
