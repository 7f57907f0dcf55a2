#include <kernpack/sdk/target.h>

#include <kernpack/error.h>

#include <algorithm>

#include "target/construct.h"
#include "target/host.h"
#include "target/json.h"
#include "target/option.h"
#include "target/suggest.h"

namespace kernpack::sdk {
namespace {

// Errors of one construction begin with what it was asked for.
template <class Make>
std::shared_ptr<const TargetNode> Named(std::string_view text, Make&& make) {
  try {
    return make().node();
  } catch (const Error& error) {
    kernpack::Text message;
    message << "Target(" << Quoted(text) << "): " << error.message();
    Check(Host()->raise(Host(), error.kind(), message.bytes(), {}));  // the kind may be the caught error's own
    throw;
  }
}

}  // namespace

Target::Target(std::string_view text)
    : node_(Named(text, [&] {
        Nesting nesting;
        return BuildTarget(ConfigFromText(text, nesting), nesting);
      })) {}

Target::Target(const AttrMap& config) : node_(BuildTarget(config, Nesting{}).node()) {}

int32_t Target::device_type() const {
  const auto name = GetAttr<std::string>("target_device_type");
  return name ? DeviceTypeFromName(*name) : node_->kind->device_type();
}

bool Target::HasKey(std::string_view key) const {
  return std::find(node_->keys.begin(), node_->keys.end(), key) != node_->keys.end();
}

std::optional<Target> Target::host() const {
  if (!node_->host) return std::nullopt;
  return Target(node_->host);
}

Target Target::WithHost(const Target& host) const {
  AttrMap config = ToConfig();
  config.insert_or_assign("host", host);
  return Target(config);
}

Target Target::WithoutHost() const {
  if (!node_->host) return *this;
  AttrMap config = ToConfig();
  config.erase("host");
  return Target(config);
}

bool Target::HasFeature(std::string_view name) const {
  const auto found = node_->features.find(name);
  if (found == node_->features.end()) return false;
  const AttrValue& value = found->second;
  return !value.is_none() && value != AttrValue(false) && value != AttrValue(0) && value != AttrValue("");
}

AttrMap Target::ToConfig() const {
  AttrMap config = node_->attrs;
  for (const auto& [name, value] : node_->given_features) config.insert_or_assign("feature." + name, value);
  config.insert_or_assign("kind", kind().name());
  config.insert_or_assign("keys", AttrValue(node_->keys));
  if (!tag().empty()) config.insert_or_assign("tag", tag());
  if (node_->host) config.insert_or_assign("host", Target(node_->host));
  return config;
}

std::string Target::ToJson() const { return MapToJson(ToConfig()); }

std::string Target::FullText() const {
  return CommandLine(kind(), node_->attrs, node_->keys, node_->given_features, node_->host.get());
}

void Target::WrongType(std::string_view name, const OptionType& wanted, const AttrValue& got) {
  KP_THROW(TypeError) << "target attribute " << Quoted(name) << " is " << got.type_name() << ", not " << wanted.Name();
}

}  // namespace kernpack::sdk
