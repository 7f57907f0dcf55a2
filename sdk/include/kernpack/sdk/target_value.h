// Values of a target's attributes, and the types that options declare.
#ifndef KERNPACK_SDK_TARGET_VALUE_H_
#define KERNPACK_SDK_TARGET_VALUE_H_

#include <concepts>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace kernpack::sdk {

class AttrValue;
class Target;
struct TargetNode;
using AttrArray = std::vector<AttrValue>;
using AttrMap = std::map<std::string, AttrValue, std::less<>>;

// None, or a bool, int, float, str, list, dict with str keys, or Target. Immutable; copies share.
class AttrValue {
 public:
  enum class Kind { kNone, kBool, kInt, kFloat, kString, kArray, kMap, kTarget };

  template <class P>
  using Shared = std::shared_ptr<const P>;

  AttrValue() = default;
  AttrValue(bool value) : value_(value) {}
  template <std::integral I>
  AttrValue(I value) : value_(static_cast<int64_t>(value)) {}
  AttrValue(double value) : value_(value) {}
  AttrValue(const char* value) : value_(std::make_shared<const std::string>(value)) {}
  AttrValue(std::string_view value) : value_(std::make_shared<const std::string>(value)) {}
  AttrValue(std::string value) : value_(std::make_shared<const std::string>(std::move(value))) {}
  AttrValue(AttrArray value) : value_(std::make_shared<const AttrArray>(std::move(value))) {}
  AttrValue(AttrMap value);
  AttrValue(const Target& value);
  template <class T>
  AttrValue(const std::vector<T>& items) : AttrValue(AttrArray(items.begin(), items.end())) {}
  template <class T>
  AttrValue(const std::map<std::string, T>& items) : AttrValue(AttrMap(items.begin(), items.end())) {}

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  bool is_none() const { return kind() == Kind::kNone; }
  // The name of the type in Python: "int", "list", ...
  const char* type_name() const;

  // The value if it has exactly that C++ type: bool, an integer type that it fits, double, std::string, AttrArray, AttrMap,
  // Target, or std::vector or std::map<std::string, ...> of such.
  template <class T>
  std::optional<T> As() const;

  // A borrowed std::string, AttrArray or AttrMap; NULL if it holds another kind.
  template <class T>
  const T* If() const {
    const Shared<T>* value = std::get_if<Shared<T>>(&value_);
    return value ? value->get() : nullptr;
  }

  // Structural equality; an int never equals a float.
  bool operator==(const AttrValue& other) const;

 private:
  std::variant<std::monostate, bool, int64_t, double, Shared<std::string>, Shared<AttrArray>, Shared<AttrMap>,
               Shared<TargetNode>>
      value_;
};

// The type that an option declares.
struct OptionType {
  enum class Kind { kBool, kInt, kFloat, kString, kArray, kMap, kTarget };
  Kind kind;
  std::shared_ptr<const OptionType> item;  // of kArray, and the values of kMap

  // "int", "list[str]", "dict[str, int]", "Target".
  std::string Name() const;
};

namespace detail {

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class T, class C>
struct IsMap<std::map<std::string, T, C>> : std::true_type {};

}  // namespace detail

template <class T>
OptionType OptionTypeOf() {
  using Kind = OptionType::Kind;
  if constexpr (std::is_same_v<T, bool>) {
    return {Kind::kBool, nullptr};
  } else if constexpr (std::is_integral_v<T>) {
    return {Kind::kInt, nullptr};
  } else if constexpr (std::is_floating_point_v<T>) {
    return {Kind::kFloat, nullptr};
  } else if constexpr (std::is_same_v<T, std::string>) {
    return {Kind::kString, nullptr};
  } else if constexpr (detail::IsVector<T>::value) {
    return {Kind::kArray, std::make_shared<const OptionType>(OptionTypeOf<typename T::value_type>())};
  } else if constexpr (detail::IsMap<T>::value) {
    return {Kind::kMap, std::make_shared<const OptionType>(OptionTypeOf<typename T::mapped_type>())};
  } else {
    static_assert(std::is_same_v<T, Target>,
                  "an option is a bool, integer, double, std::string, Target, or a "
                  "std::vector or std::map<std::string, ...> of such");
    return {Kind::kTarget, nullptr};
  }
}

template <class T>
std::optional<T> AttrValue::As() const {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, double>) {
    if (const T* value = std::get_if<T>(&value_)) return *value;
  } else if constexpr (std::is_integral_v<T>) {
    const int64_t* value = std::get_if<int64_t>(&value_);
    if (value && std::in_range<T>(*value)) return static_cast<T>(*value);
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, AttrArray> || std::is_same_v<T, AttrMap>) {
    if (const auto* value = std::get_if<Shared<T>>(&value_)) return **value;
  } else if constexpr (detail::IsVector<T>::value) {
    const auto* items = std::get_if<Shared<AttrArray>>(&value_);
    if (!items) return std::nullopt;
    T out;
    for (const AttrValue& item : **items) {
      auto value = item.As<typename T::value_type>();
      if (!value) return std::nullopt;
      out.push_back(std::move(*value));
    }
    return out;
  } else if constexpr (detail::IsMap<T>::value) {
    const auto* items = std::get_if<Shared<AttrMap>>(&value_);
    if (!items) return std::nullopt;
    T out;
    for (const auto& [key, item] : **items) {
      auto value = item.template As<typename T::mapped_type>();
      if (!value) return std::nullopt;
      out.emplace(key, std::move(*value));
    }
    return out;
  } else {
    const auto* node = std::get_if<Shared<TargetNode>>(&value_);
    if (node) return T(*node);
  }
  return std::nullopt;
}

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_TARGET_VALUE_H_
