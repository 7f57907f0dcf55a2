#include "target/builtin.h"

namespace kernpack::sdk {

const BuiltInTag kX86Tags[] = {
    {nullptr, nullptr},
};

}  // namespace kernpack::sdk
