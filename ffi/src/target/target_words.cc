#include "target/target_words.h"

#include <string_view>
#include <vector>

namespace kernpack::host {

std::string ReadCpuSpec(const TargetWords& target, CpuSpec* out) {
  std::string triple;
  std::string cpu;
  std::string attributes;
  std::vector<std::string_view> list;
  for (const TargetOption& option : target.options) {
    if (option.name == "mtriple") triple = Unquote(option.raw);
    if (option.name == "mcpu") cpu = Unquote(option.raw);
    if (option.name == "mattr" && option.raw != "[]") attributes = Unquote(option.raw);  // no feature has a comma
  }
  if (!attributes.empty()) {
    if (const char* wrong = SplitQuoted(attributes, ",", &list)) return wrong;
  }
  return ReadCpuSpec(triple, cpu, list, false, out);
}

}  // namespace kernpack::host
