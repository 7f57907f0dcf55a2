// The texts of errors that generated code and the interpreter raise alike.
#ifndef KERNPACK_SDK_COMPILER_IR_MESSAGE_H_
#define KERNPACK_SDK_COMPILER_IR_MESSAGE_H_

#include <string_view>

#include <kernpack/sdk/ir/expr.h>
#include <kernpack/text.h>

namespace kernpack::sdk::ir {

// "table[idx[i]]": how an access is written. `args` begins with its indices. Long ones are cut.
std::string AccessText(const Buffer& buffer, const std::vector<Expr>& args);
// The message of an assert about an index that is out of range; its values are the index and the extent.
std::string OutOfRangeMessage(const std::string& function, const std::string& access, size_t axis);

// Messages of asserts with the values that they say, as the interpreter writes them (generated code: codegen/frame/message.h).
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

#endif  // KERNPACK_SDK_COMPILER_IR_MESSAGE_H_
