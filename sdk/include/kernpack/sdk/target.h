// The machine for which code is compiled. A compile-time value: only FromDevice uses a device.
//
//   Target("cuda -arch=sm_90 -max_num_threads=1024")       command line
//   Target("nvidia/h100")                                  a tag; "nvidia/h100 -max_num_threads=512" overrides
//   Target(R"({"kind": "cuda", "host": "llvm"})")          JSON
//
// Canonical form: options checked against the kind's declarations, defaults filled in, the kind's parser applied. Two targets
// are equal if their canonical forms are, and Target(t.str()) == t.
#ifndef KERNPACK_SDK_TARGET_H_
#define KERNPACK_SDK_TARGET_H_

#include <kernpack/sdk/target_kind.h>

namespace kernpack::sdk {

struct TargetNode {
  const TargetKind* kind = nullptr;
  std::shared_ptr<const TargetNode> host;  // nullable
  std::string tag;  // that it was made from, or ""; ignored by ==
  std::vector<std::string> keys;
  AttrMap attrs;  // with defaults
  AttrMap features;  // given and derived
  AttrMap given_features;  // those that do not follow from attrs
  std::string text;  // canonical, host included
};

// Returns an attribute (DeviceAttrKind in lower case) or property of a device; none if the device has no such attribute.
using DeviceQuery = std::function<AttrValue(KpDLDevice device, std::string_view attribute)>;

// A handle of an immutable value, cheap to copy. Any thread.
class Target {
 public:
  // From a kind's name, a tag, JSON, or the command-line form. ValueError or TypeError if it is invalid.
  explicit Target(std::string_view text);
  explicit Target(const char* text) : Target(std::string_view(text)) {}
  explicit Target(const std::string& text) : Target(std::string_view(text)) {}
  // {"kind": "cuda", "arch": "sm_90", "host": "llvm", "feature.x": true}; or {"tag": "nvidia/h100", ...}, where other keys
  // override the tag. `from_device: 0` queries that device of the kind's type.
  explicit Target(const AttrMap& config);
  Target(const Target& target, const Target& host) : Target(target.WithHost(host)) {}
  explicit Target(std::shared_ptr<const TargetNode> node) : node_(std::move(node)) {}

  // The target of a device. Attributes come from `config` (with a kind, or none for the device type's own), else from the device,
  // else from the defaults. `query` empty: the host's device API. RuntimeError if the device does not exist.
  static Target FromDevice(KpDLDevice device, const AttrMap& config = {}, const DeviceQuery& query = {});

  const TargetKind& kind() const { return *node_->kind; }
  // The kind's, or that of the option target_device_type.
  int32_t device_type() const;
  const std::string& tag() const { return node_->tag; }
  const std::vector<std::string>& keys() const { return node_->keys; }
  bool HasKey(std::string_view key) const;

  std::optional<Target> host() const;
  // Replaces the host.
  Target WithHost(const Target& host) const;
  Target WithoutHost() const;

  const AttrMap& attrs() const { return node_->attrs; }
  // nullopt if the attribute is absent; TypeError if it has another type.
  template <class T>
  std::optional<T> GetAttr(std::string_view name) const {
    return Get<T>(node_->attrs, name);
  }
  template <class T>
  T GetAttr(std::string_view name, T otherwise) const {
    return Get<T>(node_->attrs, name).value_or(std::move(otherwise));
  }

  const AttrMap& features() const { return node_->features; }
  template <class T>
  std::optional<T> GetFeature(std::string_view name) const {
    return Get<T>(node_->features, name);
  }
  // True if the feature is present, and not false, 0, "" or none.
  bool HasFeature(std::string_view name) const;

  // The canonical command-line form, without values that the kind's defaults and parser fill in.
  const std::string& str() const { return node_->text; }
  // Every attribute and key, the features given and the host, defaults included; Target(t.FullText()) == t.
  std::string FullText() const;
  // One line of JSON with sorted keys; Target(t.ToJson()) == t. Includes the tag.
  std::string ToJson() const;
  AttrMap ToConfig() const;

  bool operator==(const Target& other) const { return node_ == other.node_ || node_->text == other.node_->text; }
  size_t Hash() const { return std::hash<std::string>()(node_->text); }
  const std::shared_ptr<const TargetNode>& node() const { return node_; }

  // The target of this thread's innermost TargetScope. RuntimeError if there is none.
  static Target Current();
  static std::optional<Target> CurrentOrNone();

 private:
  template <class T>
  static std::optional<T> Get(const AttrMap& map, std::string_view name) {
    const auto found = map.find(name);
    if (found == map.end()) return std::nullopt;
    std::optional<T> value = found->second.As<T>();
    if (!value) WrongType(name, OptionTypeOf<T>(), found->second);
    return value;
  }
  [[noreturn]] static void WrongType(std::string_view name, const OptionType& wanted, const AttrValue& got);

  std::shared_ptr<const TargetNode> node_;
};

// While it lives, `target` is current in this thread. Destroy scopes in reverse order.
class TargetScope {
 public:
  explicit TargetScope(Target target);
  ~TargetScope();
  TargetScope(const TargetScope&) = delete;
  TargetScope& operator=(const TargetScope&) = delete;
};

}  // namespace kernpack::sdk

template <>
struct std::hash<kernpack::sdk::Target> {
  size_t operator()(const kernpack::sdk::Target& target) const { return target.Hash(); }
};

#endif  // KERNPACK_SDK_TARGET_H_
