#include "guests/peer/peer_module.h"

#include <nlohmann/json.hpp>

namespace kernpack::host {
namespace {

constexpr int kMaxDepth = 16;

// Throws nlohmann's exceptions where the schema is not shaped as expected.
std::string TypeName(const nlohmann::json& schema, int depth = 0) {
  if (depth > kMaxDepth) return "...";
  std::string name = schema.at("type").get<std::string>();
  if (const size_t dot = name.rfind('.'); dot != std::string::npos) name.erase(0, dot + 1);
  const auto args = schema.find("args");
  if (args == schema.end() || args->empty()) return name;
  std::string list;
  for (const auto& arg : *args) list += (list.empty() ? "" : ", ") + TypeName(arg, depth + 1);
  return name + "[" + list + "]";
}

}  // namespace

std::string DescribeTypeSchema(std::string_view metadata) {
  try {
    const auto outer = nlohmann::json::parse(metadata);
    const auto schema = nlohmann::json::parse(outer.at("type_schema").get<std::string>());
    if (schema.at("type") != "ffi.Function") return {};
    nlohmann::json params = schema.contains("named_args") ? schema["named_args"].at("params") : schema.at("args");
    nlohmann::json result;
    if (schema.contains("named_args")) {
      result = schema["named_args"].at("return").at(0);
    } else {  // before 0.1.15: the result first, then the parameters
      result = params.at(0);
      params.erase(0);
    }
    std::string list;
    for (const auto& param : params) list += (list.empty() ? "" : ", ") + TypeName(param);
    return "(" + list + ") -> " + TypeName(result);
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

}  // namespace kernpack::host
