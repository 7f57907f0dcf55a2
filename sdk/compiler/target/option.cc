#include "target/option.h"

#include <kernpack/error.h>

#include <cmath>

#include "target/suggest.h"

namespace kernpack::sdk {
namespace {

using Kind = OptionType::Kind;

[[noreturn]] void WrongType(const std::string& what, const OptionType& type, const AttrValue& value) {
  KP_THROW(TypeError) << what << ": expected " << type.Name() << ", got " << value.type_name();
}

AttrValue CoerceFloat(const AttrValue& value, const OptionType& type, const std::string& what) {
  std::optional<double> number = value.As<double>();
  if (const auto integer = value.As<int64_t>()) number = static_cast<double>(*integer);
  if (!number) WrongType(what, type, value);
  if (!std::isfinite(*number)) KP_THROW(ValueError) << what << ": expected a finite number";
  return *number;
}

AttrValue CoerceArray(const AttrValue& value, const OptionType& type, const Nesting& nesting, const std::string& what) {
  const auto* items = value.If<AttrArray>();
  if (!items) WrongType(what, type, value);
  AttrArray out;
  for (size_t i = 0; i < items->size(); ++i) {
    out.push_back(Coerce((*items)[i], *type.item, nesting, what + " [" + std::to_string(i) + "]"));
  }
  return out;
}

AttrValue CoerceMap(const AttrValue& value, const OptionType& type, const Nesting& nesting, const std::string& what) {
  const auto* items = value.If<AttrMap>();
  if (!items) WrongType(what, type, value);
  AttrMap out;
  for (const auto& [key, item] : *items) {
    out.emplace(key, Coerce(item, *type.item, nesting, what + " [" + Quoted(key) + "]"));
  }
  return out;
}

}  // namespace

std::string Describe(const TargetKind& kind, std::string_view option) {
  return "option '" + std::string(option) + "' of target kind '" + kind.name() + "'";
}

void UnknownOption(const TargetKind& kind, std::string_view name) {
  std::vector<std::string> known;
  for (const TargetOption& option : kind.options()) known.push_back(option.name);
  KP_THROW(ValueError) << "target kind '" << kind.name() << "' has no option " << Quoted(name) << Suggest(name, known)
                       << "; its options: " << List(known) << ", and feature.<name>";
}

AttrValue Coerce(const AttrValue& value, const OptionType& type, const Nesting& nesting, const std::string& what) {
  switch (type.kind) {
    case Kind::kBool: {
      if (value.As<bool>()) return value;
      const auto integer = value.As<int64_t>();
      if (integer && (*integer == 0 || *integer == 1)) return *integer == 1;
      break;
    }
    case Kind::kInt:
      if (value.As<int64_t>()) return value;
      break;
    case Kind::kFloat:
      return CoerceFloat(value, type, what);
    case Kind::kString: {
      const auto* text = value.If<std::string>();
      if (!text) break;
      if (text->find('\0') != std::string::npos)
        KP_THROW(ValueError) << what << ": the string contains a NUL character";
      return value;
    }
    case Kind::kArray:
      return CoerceArray(value, type, nesting, what);
    case Kind::kMap:
      return CoerceMap(value, type, nesting, what);
    case Kind::kTarget:
      return BuildTarget(value, nesting, what);
  }
  WrongType(what, type, value);
}

AttrValue CheckOption(const TargetKind& kind, const TargetOption& option, const AttrValue& value,
                      const Nesting& nesting) {
  AttrValue out = Coerce(value, option.type, nesting, Describe(kind, option.name));
  if (!option.traits.validate) return out;
  if (const auto problem = option.traits.validate(out)) {
    KP_THROW(ValueError) << Describe(kind, option.name) << ' ' << *problem << ", got " << Render(out);
  }
  return out;
}

}  // namespace kernpack::sdk
