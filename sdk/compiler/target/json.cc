#include "target/json.h"

#include <kernpack/error.h>
#include <kernpack/sdk/target.h>

#include <set>

#include <nlohmann/json.hpp>

#include "target/suggest.h"

namespace kernpack::sdk {
namespace {

using nlohmann::json;

constexpr int kMostDepth = 16;

AttrMap FromObject(const json& object, const std::string& what);

AttrValue FromJson(const json& value, const std::string& what) {
  switch (value.type()) {
    case json::value_t::null:
      return {};
    case json::value_t::boolean:
      return value.get<bool>();
    case json::value_t::number_integer:
      return value.get<int64_t>();
    case json::value_t::number_unsigned:
      if (!std::in_range<int64_t>(value.get<uint64_t>())) {
        KP_THROW(ValueError) << what << ": " << value.dump() << " does not fit 64 bits";
      }
      return value.get<int64_t>();
    case json::value_t::number_float:
      return value.get<double>();
    case json::value_t::string:
      return value.get<std::string>();
    case json::value_t::array: {
      AttrArray out;
      for (const json& item : value) out.push_back(FromJson(item, what));
      return out;
    }
    default:
      return FromObject(value, what);
  }
}

AttrMap FromObject(const json& object, const std::string& what) {
  AttrMap out;
  for (const auto& [key, value] : object.items()) out.emplace(key, FromJson(value, what));
  return out;
}

json ToJson(const AttrMap& map);

json ToJson(const AttrValue& value) {
  switch (value.kind()) {
    case AttrValue::Kind::kNone:
      return nullptr;
    case AttrValue::Kind::kBool:
      return *value.As<bool>();
    case AttrValue::Kind::kInt:
      return *value.As<int64_t>();
    case AttrValue::Kind::kFloat:
      return *value.As<double>();
    case AttrValue::Kind::kString:
      return *value.As<std::string>();
    case AttrValue::Kind::kArray: {
      json out = json::array();
      for (const AttrValue& item : *value.If<AttrArray>()) out.push_back(ToJson(item));
      return out;
    }
    case AttrValue::Kind::kMap:
      return ToJson(*value.If<AttrMap>());
    case AttrValue::Kind::kTarget:
      break;
  }
  return ToJson(value.As<Target>()->ToConfig());
}

json ToJson(const AttrMap& map) {
  json out = json::object();
  for (const auto& [key, value] : map) out[key] = ToJson(value);
  return out;
}

// Refuses, while the text is read, what the parser would take without a word.
class Watch {
 public:
  explicit Watch(const std::string& what) : what_(what) {}

  bool operator()(int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start || event == json::parse_event_t::array_start) {
      if (depth >= kMostDepth) KP_THROW(ValueError) << what_ << ": JSON nested deeper than " << kMostDepth;
      if (event == json::parse_event_t::object_start) keys_.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      keys_.pop_back();
    } else if (event == json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) {
        KP_THROW(ValueError) << what_ << ": the key " << Quoted(key) << " is given twice";
      }
    }
    return true;
  }

 private:
  const std::string& what_;
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

AttrMap MapFromJson(std::string_view text, const std::string& what) {
  json parsed;
  try {
    parsed = json::parse(text.begin(), text.end(), Watch(what));
  } catch (const json::exception& error) {
    KP_THROW(ValueError) << what << ": not JSON: " << error.what();
  }
  if (!parsed.is_object()) KP_THROW(ValueError) << what << ": expected a JSON object, got " << parsed.type_name();
  return FromObject(parsed, what);
}

std::string MapToJson(const AttrMap& map) {
  try {
    return ToJson(map).dump();
  } catch (const json::exception& error) {
    KP_THROW(ValueError) << "target: an attribute cannot be written as JSON: " << error.what();
  }
}

}  // namespace kernpack::sdk
