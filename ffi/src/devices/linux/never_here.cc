#include "devices/registry.h"

namespace kernpack::host {

const char* WhyNeverHere(int32_t) noexcept { return nullptr; }

}  // namespace kernpack::host
