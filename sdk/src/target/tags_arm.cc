#include "target/builtin.h"

namespace kernpack::sdk {

const BuiltInTag kArmTags[] = {
    {nullptr, nullptr},
};

}  // namespace kernpack::sdk
