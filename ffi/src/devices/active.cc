#include "devices/registry.h"

namespace kernpack::host {
namespace {

constinit thread_local int32_t t_active[kMaxBackends] = {};

}  // namespace

int32_t ActiveDevice(int backend) noexcept { return t_active[backend]; }

void SetActiveDevice(int backend, int32_t id) noexcept { t_active[backend] = id; }

}  // namespace kernpack::host
