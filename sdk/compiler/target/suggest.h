// Text for messages.
#ifndef KERNPACK_SDK_COMPILER_TARGET_SUGGEST_H_
#define KERNPACK_SDK_COMPILER_TARGET_SUGGEST_H_

#include "shared/suggest.h"

#include <string>
#include <string_view>
#include <vector>

namespace kernpack::sdk {

using host::Suggest;

// "a, b, c".
std::string List(const std::vector<std::string>& names);

// Text of any length and content, for a message: quoted, cut after 120 bytes.
std::string Quoted(std::string_view text);

// `text` as a Python literal, whole.
std::string Literal(std::string_view text);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_TARGET_SUGGEST_H_
