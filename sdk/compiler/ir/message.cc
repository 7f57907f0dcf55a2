#include "ir/message.h"

#include <kernpack/sdk/ir/text.h>

namespace kernpack::sdk::ir {

std::string AccessText(const Buffer& buffer, const std::vector<Expr>& args) {
  constexpr size_t kLongest = 160;
  std::string text = Print(Load(buffer, {args.begin(), args.begin() + static_cast<long>(buffer->shape.size())}));
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

std::string OutOfRangeMessage(const std::string& function, const std::string& access, size_t axis) {
  return function + ": " + access + ": index {} is out of range for axis " + std::to_string(axis) + " of extent {}";
}

}  // namespace kernpack::sdk::ir
