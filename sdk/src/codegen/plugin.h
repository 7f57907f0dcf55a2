// Generators that are shared objects of their own, because of what they have inside.
#ifndef KERNPACK_SDK_SRC_CODEGEN_PLUGIN_H_
#define KERNPACK_SDK_SRC_CODEGEN_PLUGIN_H_

#include <string>

namespace kernpack::sdk {

// Opens libkernpack_<kind>.so and has it register its generator: from the folder of the binary that holds this SDK, else
// from libkernpack's, else as the dynamic linker finds it. Gives the reason when there is none; "" when it is registered.
std::string LoadGeneratorPlugin(const std::string& kind);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_SRC_CODEGEN_PLUGIN_H_
