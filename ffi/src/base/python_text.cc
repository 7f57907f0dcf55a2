#include "base/python_text.h"

#include <charconv>
#include <cmath>

namespace kernpack::host {

std::string PythonFloat(double value) {
  if (std::isnan(value)) return "nan";
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value).ptr;
  std::string out(text, end);
  if (out.find_first_of(".en") == std::string::npos) out += ".0";  // 2.0, not 2; inf as it is
  return out;
}

std::optional<std::string> PythonText(const KpAny& value) {
  switch (value.type_index) {
    case KP_TYPE_NONE:
      return "None";
    case KP_TYPE_INT:
      return std::to_string(value.v.v_int);
    case KP_TYPE_BOOL:
      return value.v.v_int ? "True" : "False";
    case KP_TYPE_FLOAT:
      return PythonFloat(value.v.v_float);
    default:
      return std::nullopt;
  }
}

}  // namespace kernpack::host
