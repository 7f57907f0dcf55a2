#include <kernpack/host/host.h>

namespace {

// One text, whose beginning the CMake package of kernpack-sdk looks for in the library's file.
constexpr char kAbi[] = "kernpack.abi:" KP_STRINGIFY(KP_ABI_MAJOR) "." KP_STRINGIFY(KP_ABI_MINOR) " version:";
constexpr char kAbiAndVersion[] =
    "kernpack.abi:" KP_STRINGIFY(KP_ABI_MAJOR) "." KP_STRINGIFY(KP_ABI_MINOR) " version:" KERNPACK_VERSION;

}  // namespace

const char* kp_version(void) { return kAbiAndVersion + sizeof kAbi - 1; }
