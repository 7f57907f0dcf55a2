#include "target/builtin.h"

#include <charconv>

#include "target/suggest.h"

namespace kernpack::sdk {
namespace {

template <class Number>
bool Is(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// "" or what is wrong.
std::string Problem(std::string_view option) {
  if (!option.starts_with('-')) return "an option of LLVM begins with '-'";
  option.remove_prefix(option.starts_with("--") ? 2 : 1);
  const size_t name_end = option.find_first_of(":=");
  const std::string_view name = option.substr(0, name_end);
  if (name.empty() || name.starts_with('-')) return "the option's name is missing";
  if (name_end == std::string_view::npos) return "";
  if (option[name_end] == '=') return "";
  const size_t equals = option.find('=', name_end);
  if (equals == std::string_view::npos) return "a type without a value";
  const std::string_view type = option.substr(name_end + 1, equals - name_end - 1);
  const std::string_view value = option.substr(equals + 1);
  if (type == "string") return "";
  if (type == "bool") {
    const bool good = value == "0" || value == "1" || value == "true" || value == "false";
    return good ? "" : "expected true or false";
  }
  if (type == "int") return Is<int32_t>(value) ? "" : "expected an integer";
  if (type == "uint") return Is<uint32_t>(value) ? "" : "expected an integer that is not negative";
  return "types are bool, int, uint and string";
}

}  // namespace

std::optional<std::string> CheckClOpts(const AttrValue& options) {
  for (const AttrValue& item : *options.If<AttrArray>()) {
    const std::string& option = *item.If<std::string>();
    const std::string problem = Problem(option);
    if (!problem.empty()) {
      return "takes -name, -name=text or -name:type=value; in " + Quoted(option) + ": " + problem;
    }
  }
  return std::nullopt;
}

}  // namespace kernpack::sdk
