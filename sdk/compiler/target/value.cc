#include <kernpack/sdk/target.h>

namespace kernpack::sdk {

AttrValue::AttrValue(AttrMap value) : value_(std::make_shared<const AttrMap>(std::move(value))) {}
AttrValue::AttrValue(const Target& value) : value_(value.node()) {}

const char* AttrValue::type_name() const {
  constexpr const char* kNames[] = {"None", "bool", "int", "float", "str", "list", "dict", "Target"};
  return kNames[value_.index()];
}

bool AttrValue::operator==(const AttrValue& other) const {
  if (value_.index() != other.value_.index()) return false;
  return std::visit(
      [&](const auto& mine) {
        using T = std::decay_t<decltype(mine)>;
        const T& theirs = std::get<T>(other.value_);
        if constexpr (std::is_same_v<T, Shared<TargetNode>>) {
          return mine->text == theirs->text;
        } else if constexpr (requires { mine.get(); }) {
          return *mine == *theirs;
        } else {
          return mine == theirs;
        }
      },
      value_);
}

std::string OptionType::Name() const {
  switch (kind) {
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kString:
      return "str";
    case Kind::kArray:
      return "list[" + item->Name() + "]";
    case Kind::kMap:
      return "dict[str, " + item->Name() + "]";
    case Kind::kTarget:
      break;
  }
  return "Target";
}

}  // namespace kernpack::sdk
