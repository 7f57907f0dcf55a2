// The headers that authors of kernels include, as text, for the compilers that build generated modules: they need no SDK that
// is installed.
#ifndef KERNPACK_SDK_SRC_CODEGEN_AUTHOR_HEADERS_H_
#define KERNPACK_SDK_SRC_CODEGEN_AUTHOR_HEADERS_H_

#include <string_view>

namespace kernpack::sdk {

struct AuthorHeader {
  std::string_view path;  // "kernpack/abi.h"
  std::string_view text;
};

// The last one has no path. Made by CMake.
extern const AuthorHeader kAuthorHeaders[];

// One of them; InternalError where there is none of that path.
std::string_view AuthorHeaderText(std::string_view path);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_SRC_CODEGEN_AUTHOR_HEADERS_H_
