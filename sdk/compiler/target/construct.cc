// A config to a canonical target.
#include "target/construct.h"

#include <kernpack/error.h>
#include "shared/target_text.h"

#include <algorithm>

#include "target/option.h"
#include "target/suggest.h"

namespace kernpack::sdk {
namespace {

constexpr int kMostNesting = 8;  // hosts of hosts, elements of elements

// A config sorted into what the steps below need.
struct Request {
  const TargetKind* kind = nullptr;
  std::shared_ptr<const TargetNode> host;
  std::string tag;
  std::optional<std::vector<std::string>> keys;
  std::optional<int64_t> from_device;
  AttrMap options;  // checked
  AttrMap features;
};

const TargetKind& GetKind(const AttrMap& config) {
  const auto kind = config.find("kind");
  if (kind == config.end()) {
    KP_THROW(ValueError) << "a target's config needs \"kind\" (or \"tag\"); kinds: " << List(TargetKind::List());
  }
  const auto* name = kind->second.If<std::string>();
  if (!name) KP_THROW(TypeError) << "kind: expected str, got " << kind->second.type_name();
  return TargetKind::Get(*name);
}

AttrValue CheckFeature(const std::string& key, const AttrValue& value) {
  using Kind = OptionType::Kind;
  const Nesting none;
  switch (value.kind()) {
    case AttrValue::Kind::kBool:
    case AttrValue::Kind::kInt:
      return value;
    case AttrValue::Kind::kFloat:
      return Coerce(value, {Kind::kFloat, nullptr}, none, key);
    case AttrValue::Kind::kString:
      return Coerce(value, {Kind::kString, nullptr}, none, key);
    default:
      break;
  }
  KP_THROW(TypeError) << key << ": expected bool, int, float or str, got " << value.type_name();
}

bool IsName(std::string_view text) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  return !text.empty() && text.find_first_not_of(kAllowed) == std::string_view::npos;
}

Request Sort(const AttrMap& config, const Nesting& nesting) {
  Request request;
  request.kind = &GetKind(config);
  for (const auto& [key, value] : config) {
    if (key == "kind" || value.is_none()) continue;
    if (key.starts_with(kFeature)) {
      const std::string name = key.substr(kFeature.size());
      if (!IsName(name)) KP_THROW(ValueError) << "feature." << Quoted(name) << ": expected letters, digits and _.-";
      request.features.emplace(name, CheckFeature(key, value));
      continue;
    }
    const TargetOption* option = request.kind->FindOption(key);
    if (!option) UnknownOption(*request.kind, key);
    const AttrValue checked = CheckOption(*request.kind, *option, value, nesting);
    if (key == "host") {
      request.host = checked.As<Target>()->node();
    } else if (key == "tag") {
      request.tag = *checked.As<std::string>();
    } else if (key == "keys") {
      request.keys = checked.As<std::vector<std::string>>();
    } else if (key == "from_device") {
      request.from_device = checked.As<int64_t>();
    } else {
      request.options.emplace(key, checked);
    }
  }
  return request;
}

// The parser's input: defaults below `options`, the kind's keys below `keys`; then the parser.
TargetSpec Canonical(const TargetKind& kind, AttrMap options, const std::optional<std::vector<std::string>>& keys,
                     const AttrMap& features) {
  TargetSpec spec;
  spec.attrs = std::move(options);
  for (const TargetOption& option : kind.options()) {
    if (!option.traits.default_value.is_none()) spec.attrs.emplace(option.name, option.traits.default_value);
  }
  std::vector<std::string> wanted = keys ? *keys : kind.default_keys();
  if (const auto device = spec.attrs.find("device"); device != spec.attrs.end()) {
    wanted.push_back(*device->second.If<std::string>());
  }
  for (std::string& key : wanted) {
    if (std::find(spec.keys.begin(), spec.keys.end(), key) == spec.keys.end()) spec.keys.push_back(std::move(key));
  }
  spec.given_features = features;
  kind.Parse(spec);
  return spec;
}

AttrMap WithoutDefaults(const TargetKind& kind, const AttrMap& attrs) {
  AttrMap out;
  for (const auto& [name, value] : attrs) {
    const TargetOption* option = kind.FindOption(name);
    if (!option) {
      KP_THROW(InternalError) << "the parser of target kind '" << kind.name() << "' sets " << Quoted(name)
                              << ", which isn't one of its options; declare it, or set a feature";
    }
    if (value == option->traits.default_value) continue;
    out.emplace(name, value);
  }
  return out;
}

// The options that the text needs to give this target back. InternalError if the kind's parser makes this impossible.
struct Minimal {
  AttrMap attrs;
  std::optional<std::vector<std::string>> keys;
  AttrMap features;
};

Minimal Minimise(const TargetKind& kind, const TargetSpec& spec) {
  Minimal out;
  out.attrs = WithoutDefaults(kind, spec.attrs);
  for (const auto& [name, value] : spec.given_features) {
    const auto derived = spec.features.find(name);
    if (derived == spec.features.end() || derived->second != value) out.features.emplace(name, value);
  }
  TargetSpec again = Canonical(kind, out.attrs, std::nullopt, out.features);
  if (again.keys != spec.keys) {
    out.keys = spec.keys;
    again = Canonical(kind, out.attrs, out.keys, out.features);
  }
  if (again.attrs != spec.attrs || again.keys != spec.keys || again.features != spec.features) {
    KP_THROW(InternalError) << "the parser of target kind '" << kind.name()
                            << "' is not idempotent: parsing its own result changed it";
  }
  return out;
}

}  // namespace

std::string CommandLine(const TargetKind& kind, const AttrMap& attrs,
                        const std::optional<std::vector<std::string>>& keys, const AttrMap& features,
                        const TargetNode* host) {
  std::map<std::string, std::string> words;
  for (const auto& [name, value] : attrs) words.emplace(name, Render(value));
  for (const auto& [name, value] : features) words.emplace(std::string(kFeature) + name, RenderUntyped(value));
  if (keys) words.emplace("keys", Render(*keys));
  if (host) words.emplace("host", host::Quote(host->text));
  std::string text = kind.name();
  for (const auto& [name, value] : words) text += " -" + name + "=" + value;
  return text;
}

Target BuildTarget(const AttrMap& config, const Nesting& nesting, const DeviceQuery& query) {
  Nesting inner = nesting;
  if (++inner.depth > kMostNesting) KP_THROW(ValueError) << "targets nested deeper than " << kMostNesting;
  Request request = Sort(ResolveTag(config, inner), inner);
  if (request.from_device) AskDevice(*request.kind, *request.from_device, query, &request.options);
  TargetSpec spec = Canonical(*request.kind, std::move(request.options), request.keys, request.features);
  const Minimal minimal = Minimise(*request.kind, spec);
  int hosts = 0;
  for (const TargetNode* host = request.host.get(); host; host = host->host.get()) {
    if (++hosts >= kMostNesting) KP_THROW(ValueError) << "targets nested deeper than " << kMostNesting;
  }
  auto node = std::make_shared<TargetNode>();
  node->kind = request.kind;
  node->host = std::move(request.host);
  node->tag = std::move(request.tag);
  node->text = CommandLine(*request.kind, minimal.attrs, minimal.keys, minimal.features, node->host.get());
  node->keys = std::move(spec.keys);
  node->attrs = std::move(spec.attrs);
  node->given_features = minimal.features;
  node->features = minimal.features;
  node->features.merge(spec.features);  // what was given stays
  return Target(std::shared_ptr<const TargetNode>(std::move(node)));
}

Target BuildTarget(const AttrValue& value, const Nesting& nesting, std::string_view what) {
  if (const auto target = value.As<Target>()) return *target;
  Nesting inner = nesting;
  if (const auto* text = value.If<std::string>()) return BuildTarget(ConfigFromText(*text, inner), inner);
  if (const auto* config = value.If<AttrMap>()) return BuildTarget(*config, inner);
  KP_THROW(TypeError) << what << ": expected a target (str, dict or Target), got " << value.type_name();
}

}  // namespace kernpack::sdk
