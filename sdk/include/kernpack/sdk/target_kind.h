// Target kinds: which device runs the code, and which options a target has.
//
//   KP_REGISTER_TARGET_KIND(npu, KP_DEVICE_EXT)
//       .set_default_keys({"npu"})
//       .add_attr_option<int64_t>("cores", {.default_value = 4, .doc = "cores used", .validate = AtLeast(1)})
//       .set_target_parser([](TargetSpec& spec) { ... });
//
// Several kinds may share a device type: llvm and c are both for the CPU.
#ifndef KERNPACK_SDK_TARGET_KIND_H_
#define KERNPACK_SDK_TARGET_KIND_H_

#include <kernpack/abi.h>
#include <kernpack/sdk/target_value.h>

#include <any>
#include <functional>
#include <initializer_list>
#include <utility>

namespace kernpack::sdk {

// Returns the error of a value, or nullopt. The text follows the option's name: "must be at least 1".
using OptionValidator = std::function<std::optional<std::string>(const AttrValue&)>;
OptionValidator AtLeast(int64_t least);
OptionValidator InRange(int64_t least, int64_t most);
OptionValidator OneOf(std::vector<std::string> choices);

struct OptionTraits {
  AttrValue default_value = {};  // none: the attribute is absent unless given
  std::string doc = {};
  OptionValidator validate = {};
  // The attribute that Target::FromDevice reads from the device: a DeviceAttrKind in lower case ("warp_size") or a property ("arch").
  std::string from_device = {};
  // Converts the device's attribute to the option's value; none if it cannot.
  std::function<AttrValue(const AttrValue&)> convert = {};
};

struct TargetOption {
  std::string name;
  OptionType type;
  OptionTraits traits;
};

// A target under construction, for its kind's parser: options are checked and defaults filled in.
struct TargetSpec {
  AttrMap attrs;
  std::vector<std::string> keys;
  AttrMap given_features;  // what the user wrote as feature.<name>
  AttrMap features;  // set by the parser: facts that follow from attrs; given_features take precedence
};

class TargetKind {
 public:
  const std::string& name() const { return name_; }
  // A KpDeviceType, or the number that the host assigned to the kind's device name; RuntimeError if the host knows no
  // such device.
  int32_t device_type() const;
  const std::vector<std::string>& default_keys() const { return default_keys_; }
  // In the order of declaration; those that every kind has come first.
  const std::vector<TargetOption>& options() const { return options_; }
  const TargetOption* FindOption(std::string_view name) const;  // NULL: none

  // An attribute of the kind itself, set by set_attr; nullopt if it is absent or has another type.
  template <class T>
  std::optional<T> GetAttr(std::string_view key) const {
    const auto found = meta_.find(key);
    if (found == meta_.end()) return std::nullopt;
    const T* value = std::any_cast<T>(&found->second);
    return value ? std::optional<T>(*value) : std::nullopt;
  }

  // Brings `spec` into canonical form. Idempotent: parsing the result again changes nothing (checked at construction).
  void Parse(TargetSpec& spec) const {
    if (parser_) parser_(spec);
  }

  // NULL if there is none of that name. Registered kinds live until the process ends.
  static const TargetKind* Find(std::string_view name);
  // ValueError that lists the kinds and suggests a similar one.
  static const TargetKind& Get(std::string_view name);
  static std::vector<std::string> List();  // sorted

 private:
  friend class TargetKindBuilder;
  std::string name_;
  int32_t device_type_ = 0;
  std::string device_name_;  // if the host assigns the type
  std::vector<std::string> default_keys_;
  std::vector<TargetOption> options_;
  std::map<std::string, std::any, std::less<>> meta_;
  std::function<void(TargetSpec&)> parser_;
};

// Builds a kind; Register registers it. ValueError for a name or option given twice, and for a default that has another
// type than the option or that the validator rejects.
class TargetKindBuilder {
 public:
  TargetKindBuilder(std::string name, int32_t device_type);
  // For a new backend, whose device type the host assigns: the device's name.
  TargetKindBuilder(std::string name, const char* device_name);
  TargetKindBuilder(const TargetKindBuilder&) = delete;
  TargetKindBuilder& operator=(const TargetKindBuilder&) = delete;

  template <class T>
  TargetKindBuilder& add_attr_option(std::string name, OptionTraits traits = {}) {
    return AddOption({std::move(name), OptionTypeOf<T>(), std::move(traits)});
  }
  TargetKindBuilder& set_default_keys(std::vector<std::string> keys) {
    kind_->default_keys_ = std::move(keys);
    return *this;
  }
  template <class T>
  TargetKindBuilder& set_attr(std::string key, T value) {
    kind_->meta_.insert_or_assign(std::move(key), std::any(std::move(value)));
    return *this;
  }
  TargetKindBuilder& set_target_parser(std::function<void(TargetSpec&)> parser) {
    kind_->parser_ = std::move(parser);
    return *this;
  }

  const TargetKind& Register();

 private:
  TargetKindBuilder& AddOption(TargetOption option);
  std::unique_ptr<TargetKind> kind_;
};

// The declaration of KP_REGISTER_TARGET_KIND.
struct TargetKindRegistration {
  TargetKindRegistration(TargetKindBuilder& builder) : kind(builder.Register()) {}
  const TargetKind& kind;
};

}  // namespace kernpack::sdk

#define KP_SDK_CONCAT_(a, b) a##b
#define KP_SDK_UNIQUE_(prefix, line) KP_SDK_CONCAT_(prefix, line)
// At namespace scope, followed by the builder's methods. `device`: a KpDeviceType, or the device's name as a string.
#define KP_REGISTER_TARGET_KIND(kind_name, device)                                                                     \
  [[maybe_unused]] static const ::kernpack::sdk::TargetKindRegistration KP_SDK_UNIQUE_(kp_target_kind_, __COUNTER__) = \
      ::kernpack::sdk::TargetKindBuilder(#kind_name, device).set_attr("registered_in", std::string(__FILE__))

#endif  // KERNPACK_SDK_TARGET_KIND_H_
