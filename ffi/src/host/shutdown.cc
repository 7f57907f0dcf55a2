// Giving everything back, for embedders and leak tests. Nothing of this runs at process exit.
#include <kernpack/host/host.h>

#include "base/guard.h"
#include "devices/pool.h"
#include "devices/parallel/pool.h"
#include "modules/registry.h"
#include "devices/storage/table.h"
#include "devices/workspace/workspace.h"

using namespace kernpack::host;

int kp_host_shutdown(void) {
  return Guard("kp_host_shutdown", [] {
    StopPool();
    StorageTable::Get().EraseIf([](const KeyView&) { return true; });
    DropWorkspaces([](const KeyView&) { return true; });
    DropPools();
    DropGlobalFunctions();
    kp_error_clear();
    return 0;
  });
}
