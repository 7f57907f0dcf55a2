// Messages of asserts with the values that they say, as the interpreter writes them (generated code: codegen/frame/message.h).
#ifndef KERNPACK_SDK_COMPILER_IR_PLACEHOLDER_H_
#define KERNPACK_SDK_COMPILER_IR_PLACEHOLDER_H_

#include <kernpack/text.h>

#include <string_view>

namespace kernpack::sdk::ir {

// Appends the text with the first `count` places "{}" taken by the values, in order.
inline void WriteWithValues(std::string_view text, const int64_t* values, size_t count, Text* out) {
  for (size_t i = 0; i < count; ++i) {
    const size_t at = text.find("{}");
    if (at == std::string_view::npos) break;
    *out << text.substr(0, at) << values[i];
    text.remove_prefix(at + 2);
  }
  *out << text;
}

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_IR_PLACEHOLDER_H_
