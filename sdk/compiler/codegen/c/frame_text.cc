#include "codegen/c/prelude.h"

#include <string_view>

#include "codegen/c_headers.h"

namespace kernpack::sdk::ir {
namespace {

// A header's lines but those of its guard, and those that include others of the SDK.
std::string Pasted(std::string_view header) {
  std::string text = "\n";
  while (!header.empty()) {
    const size_t end = header.find('\n') + 1;
    const std::string_view line = header.substr(0, end);
    header.remove_prefix(end);
    if (line.find("KERNPACK_SDK_SRC_") != std::string_view::npos || line.rfind("#include \"", 0) == 0) continue;
    text += line;
  }
  return text;
}

}  // namespace

std::string FrameText() {
  static const std::string text =
      Pasted(CHeaderText("codegen/frame/message.h")) + Pasted(CHeaderText("codegen/frame/arguments.h"));
  return text;
}

}  // namespace kernpack::sdk::ir
