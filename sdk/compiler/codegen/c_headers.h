// The headers that generated C includes, as text, for the compilers that build it: they need no SDK that is installed.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_C_HEADERS_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_C_HEADERS_H_

#include <string_view>

namespace kernpack::sdk {

// Those of kernpack that are plain C, and the frame's.
struct CHeader {
  std::string_view path;  // "kernpack/abi.h", "codegen/frame/launch.h"
  std::string_view text;
};

// The last one has no path. Made by CMake.
extern const CHeader kCHeaders[];

// One of them; InternalError where there is none of that path.
std::string_view CHeaderText(std::string_view path);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_C_HEADERS_H_
