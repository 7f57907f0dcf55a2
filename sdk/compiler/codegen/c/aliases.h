// Code around the C file of an exported module, so that hosts of the TVM FFI ABI can run the module too.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_C_ALIASES_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_C_ALIASES_H_

#include <kernpack/sdk/ir/stmt.h>

#include <string>

namespace kernpack::sdk::ir {

// `text`, which GenerateC() made of the module, with an alias for each of its functions. To be linked with the frame
// (codegen/frame_code.h), which answers them, and with kAliasLinkOptions.
std::string WithAliases(const std::string& text, const IRModule& module);

// The frame's calls of dlopen and dlsym go to functions of the C file, which the compiler binds to the oldest version of them that
// the C library has. What of the frame nobody calls is left out.
inline constexpr const char* kAliasLinkOptions[] = {"-Wl,--gc-sections", "-Wl,--wrap=dlopen,--wrap=dlsym", "-ldl"};

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_C_ALIASES_H_
