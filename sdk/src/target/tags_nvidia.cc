#include "target/builtin.h"

namespace kernpack::sdk {

const BuiltInTag kNvidiaTags[] = {
    {"nvidia/h100", "cuda -arch=sm_90 -max_shared_memory_per_block=232448 -registers_per_block=65536"},
    {nullptr, nullptr},
};

}  // namespace kernpack::sdk
