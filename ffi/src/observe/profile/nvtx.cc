// The part of NVTX's interface between a program and a profiler that ranges need, as <nvtx3/nvToolsExt.h> describes it. The profiler's
// library gets a table of pointers to function pointers, by module and number, and sets those that it wants to be called through.
#include "observe/profile/nvtx.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/fork.h"
#include "base/loaded_libraries.h"

namespace kernpack::host::profile {

std::atomic<const NvtxRanges*> g_nvtx{nullptr};

namespace {

using Pointer = void (*)();

// NVTX_ETID_* and NVTX_CB_MODULE_*.
constexpr uint32_t kCallbacks = 1, kVersionInfo = 3, kCore = 1;
// NVTX_CBID_CORE_*, whose last is RangePop's neighbour NameOsThreadW.
constexpr size_t kRangePushA = 9, kRangePop = 11, kCoreSize = 16;

struct Callbacks {
  size_t size;
  int (*table)(uint32_t module, Pointer*** out, uint32_t* out_size);
};

struct VersionInfo {
  size_t size;
  uint32_t version;
  uint32_t reserved;
  Pointer not_used;
};

Pointer functions[kCoreSize];
std::array<Pointer*, kCoreSize + 1> table;  // of pointers to `functions`; ends with NULL

int Table(uint32_t module, Pointer*** out, uint32_t* out_size) {
  if (module != kCore) return 0;  // nothing of it is called here
  if (out != nullptr) *out = table.data();
  if (out_size != nullptr) *out_size = kCoreSize;
  return 1;
}

const void* ExportTable(uint32_t id) {
  static const Callbacks callbacks{sizeof callbacks, &Table};
  static const VersionInfo version{sizeof version, 3, 0, nullptr};
  if (id == kCallbacks) return &callbacks;
  return id == kVersionInfo ? &version : nullptr;
}

void Find() {
  const char* path = std::getenv("NVTX_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return;
  const NoFork no_fork;
  std::string why;
  void* library = OpenForGood(path, Binding::kWhenCalled, &why);
  if (library == nullptr) {
    std::fprintf(stderr, "kernpack: profile: NVTX_INJECTION64_PATH: %s; that profiler will not show calls as ranges\n",
                 why.c_str());
    return;
  }
  using Initialize = int (*)(const void* (*)(uint32_t));
  const auto initialize = reinterpret_cast<Initialize>(FindInLibrary(library, "InitializeInjectionNvtx2"));
  for (size_t i = 0; i < kCoreSize; ++i) table[i] = &functions[i];
  if (initialize == nullptr || initialize(&ExportTable) != 1) {
    std::fprintf(stderr,
                 "kernpack: profile: NVTX_INJECTION64_PATH: %s %s; that profiler will not show calls as ranges\n", path,
                 initialize == nullptr ? "doesn't export InitializeInjectionNvtx2" : "refused to start");
    return;
  }
  if (functions[kRangePushA] == nullptr || functions[kRangePop] == nullptr) return;  // it doesn't ask for ranges
  static const NvtxRanges ranges{reinterpret_cast<int (*)(const char*)>(functions[kRangePushA]),
                                 reinterpret_cast<int (*)()>(functions[kRangePop])};
  g_nvtx.store(&ranges, std::memory_order_release);
}

}  // namespace

void FindNvtx() noexcept {
  // Not std::call_once: its variables in libstdc++ would need room in the static TLS block, of which torch leaves none.
  [[maybe_unused]] static const bool looked = (Find(), true);
}

}  // namespace kernpack::host::profile
