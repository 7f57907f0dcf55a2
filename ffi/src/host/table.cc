// The process's host table.
#include <kernpack/host/host.h>

#include "base/services.h"

namespace {

#define KP_TABLE_ENTRY(version, name, parameters) kernpack::host::service::name,
constexpr KpHost g_host = {sizeof(KpHost), KP_ABI_VERSION, KP_HOST_SERVICES(KP_TABLE_ENTRY)};
#undef KP_TABLE_ENTRY

}  // namespace

const KpHost* kp_host(void) { return &g_host; }
