// LLVM's own command-line options within a target.
#ifndef KERNPACK_SDK_COMPILER_TARGET_CL_OPT_H_
#define KERNPACK_SDK_COMPILER_TARGET_CL_OPT_H_

#include <kernpack/sdk/target_kind.h>

namespace kernpack::sdk {

// Each entry is -name, -name=value, or -name:type=value with type bool, int, uint or string; what is wrong with the first that
// is not. Whether LLVM knows the name is LLVM's to say.
std::optional<std::string> CheckClOpts(const AttrValue& options);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_TARGET_CL_OPT_H_
