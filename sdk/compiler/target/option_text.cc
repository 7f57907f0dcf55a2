// Values of options on the command line, both ways.
#include <kernpack/error.h>
#include "shared/target_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "target/json.h"
#include "target/option.h"
#include "target/suggest.h"

namespace kernpack::sdk {
namespace {

using host::Quote;
using host::Unquote;
using Kind = OptionType::Kind;

template <class Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return number;
}

std::optional<bool> ParseBool(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (lower == "true" || lower == "1") return true;
  if (lower == "false" || lower == "0") return false;
  return std::nullopt;
}

[[noreturn]] void Unreadable(const std::string& what, const char* expected, std::string_view got) {
  KP_THROW(ValueError) << what << ": expected " << expected << ", got " << Quoted(got);
}

AttrValue InterpretArray(std::string_view raw, const OptionType& type, const std::string& what) {
  AttrArray out;
  if (raw == "[]") return out;
  std::vector<std::string_view> items;
  if (const char* wrong = host::SplitQuoted(raw, ",", &items)) KP_THROW(ValueError) << what << ": " << wrong;
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string where = what + " [" + std::to_string(i) + "]";
    const bool nested = type.item->kind == Kind::kArray;
    out.push_back(nested ? InterpretArray(Unquote(items[i]), *type.item, where)
                         : Interpret(items[i], *type.item, where));
  }
  return out;
}

std::string RenderFloat(double value) {
  char text[32];
  const auto result = std::to_chars(text, text + sizeof text, value);
  return std::string(text, result.ptr);
}

std::string RenderArray(const AttrArray& items) {
  if (items.empty()) return "[]";
  std::string out;
  for (const AttrValue& item : items) {
    const auto nested = item.If<AttrArray>();
    if (&item != items.data()) out += ',';
    out += nested ? Quote(RenderArray(*nested)) : Render(item);
  }
  return out;
}

}  // namespace

AttrValue Interpret(std::string_view raw, const OptionType& type, const std::string& what) {
  switch (type.kind) {
    case Kind::kArray:
      return InterpretArray(raw, type, what);
    case Kind::kMap:
      return MapFromJson(Unquote(raw), what);
    default:
      break;
  }
  const std::string text = Unquote(raw);
  switch (type.kind) {
    case Kind::kBool: {
      const auto value = ParseBool(text);
      if (!value) Unreadable(what, "true or false", text);
      return *value;
    }
    case Kind::kInt: {
      const auto value = ParseNumber<int64_t>(text);
      if (!value) Unreadable(what, "an integer", text);
      return *value;
    }
    case Kind::kFloat: {
      const auto value = ParseNumber<double>(text);
      if (!value) Unreadable(what, "a number", text);
      return *value;
    }
    default:
      return text;  // a Target is built from its text later
  }
}

AttrValue InterpretUntyped(std::string_view raw) {
  if (raw == "true" || raw == "false") return raw == "true";
  if (const auto integer = ParseNumber<int64_t>(raw)) return *integer;
  const auto number = ParseNumber<double>(raw);
  if (number && std::isfinite(*number)) return *number;
  return Unquote(raw);
}

std::string Render(const AttrValue& value) {
  switch (value.kind()) {
    case AttrValue::Kind::kBool:
      return *value.As<bool>() ? "true" : "false";
    case AttrValue::Kind::kInt:
      return std::to_string(*value.As<int64_t>());
    case AttrValue::Kind::kFloat:
      return RenderFloat(*value.As<double>());
    case AttrValue::Kind::kString:
      return Quote(*value.If<std::string>());
    case AttrValue::Kind::kArray:
      return RenderArray(*value.If<AttrArray>());
    case AttrValue::Kind::kMap:
      return Quote(MapToJson(*value.If<AttrMap>()));
    case AttrValue::Kind::kTarget:
      return Quote(value.As<Target>()->str());
    case AttrValue::Kind::kNone:
      break;
  }
  return "''";
}

std::string RenderUntyped(const AttrValue& value) {
  if (const auto number = value.As<double>()) {
    const std::string text = RenderFloat(*number);
    return ParseNumber<int64_t>(text) ? text + ".0" : text;
  }
  std::string text = Render(value);
  const bool misread = value.If<std::string>() && !InterpretUntyped(text).If<std::string>();
  return misread ? host::QuoteAlways(text) : text;
}

}  // namespace kernpack::sdk
