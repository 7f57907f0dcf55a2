#include <kernpack/error.h>
#include <kernpack/sdk/target.h>

#include <algorithm>
#include <mutex>

#include "target/builtin.h"
#include "target/option.h"
#include "target/host.h"
#include "target/suggest.h"

namespace kernpack::sdk {
namespace {

struct KindRegistry {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<const TargetKind>, std::less<>> kinds;
};

// Leaked: registrations and targets of other translation units may outlive any destructor.
KindRegistry& Kinds() {
  static KindRegistry& registry = *new KindRegistry;
  return registry;
}

// The built-in kinds, on first use: their order against other static initialisers does not matter then.
KindRegistry& WithBuiltIn() {
  static const bool once = (RegisterBuiltInKinds(), true);
  (void)once;
  return Kinds();
}

bool IsKindName(std::string_view name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789_-";
  return !name.empty() && name[0] >= 'a' && name[0] <= 'z' &&
         name.find_first_not_of(kAllowed) == std::string_view::npos;
}

}  // namespace

OptionValidator AtLeast(int64_t least) {
  return [least](const AttrValue& value) -> std::optional<std::string> {
    if (value.As<int64_t>().value_or(least) >= least) return std::nullopt;
    return "must be at least " + std::to_string(least);
  };
}

OptionValidator InRange(int64_t least, int64_t most) {
  return [least, most](const AttrValue& value) -> std::optional<std::string> {
    const int64_t number = value.As<int64_t>().value_or(least);
    if (number >= least && number <= most) return std::nullopt;
    return "must be " + std::to_string(least) + " to " + std::to_string(most);
  };
}

OptionValidator OneOf(std::vector<std::string> choices) {
  return [choices = std::move(choices)](const AttrValue& value) -> std::optional<std::string> {
    const std::string text = value.As<std::string>().value_or("");
    if (std::find(choices.begin(), choices.end(), text) != choices.end()) return std::nullopt;
    return "must be one of " + List(choices) + Suggest(text, choices);
  };
}

int32_t TargetKind::device_type() const {
  return device_name_.empty() ? device_type_ : DeviceTypeFromName(device_name_);
}

const TargetOption* TargetKind::FindOption(std::string_view name) const {
  const auto found = std::find_if(options_.begin(), options_.end(), [&](const auto& o) { return o.name == name; });
  return found == options_.end() ? nullptr : &*found;
}

const TargetKind* TargetKind::Find(std::string_view name) {
  KindRegistry& registry = WithBuiltIn();
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.kinds.find(name);
  return found == registry.kinds.end() ? nullptr : found->second.get();
}

const TargetKind& TargetKind::Get(std::string_view name) {
  if (const TargetKind* kind = Find(name)) return *kind;
  const std::vector<std::string> known = List();
  KP_THROW(ValueError) << "no target kind is called " << Quoted(name) << Suggest(name, known)
                       << "; kinds: " << sdk::List(known);
}

std::vector<std::string> TargetKind::List() {
  KindRegistry& registry = WithBuiltIn();
  const std::lock_guard lock(registry.mutex);
  std::vector<std::string> names;
  for (const auto& [name, kind] : registry.kinds) names.push_back(name);
  return names;
}

TargetKindBuilder::TargetKindBuilder(std::string name, int32_t device_type) : kind_(new TargetKind) {
  kind_->name_ = std::move(name);
  kind_->device_type_ = device_type;
  add_attr_option<std::vector<std::string>>("keys", {.doc = "groups that schedules are chosen by"});
  add_attr_option<std::string>("tag", {.doc = "the tag that the target came from"});
  add_attr_option<std::string>("device", {.doc = "name of the device; becomes a key"});
  add_attr_option<std::string>("model", {.doc = "name of the product, for people"});
  add_attr_option<std::vector<std::string>>("libs", {.doc = "libraries that generated code may call"});
  add_attr_option<Target>("host", {.doc = "what the code that launches this target's code is compiled for"});
  add_attr_option<int64_t>("from_device",
                           {.doc = "read what is not given from the device of this id, once", .validate = AtLeast(0)});
  add_attr_option<std::string>("target_device_type", {.doc = "name of another device type than the kind's"});
}

TargetKindBuilder::TargetKindBuilder(std::string name, const char* device_name)
    : TargetKindBuilder(std::move(name), 0) {
  kind_->device_name_ = device_name;
}

TargetKindBuilder& TargetKindBuilder::AddOption(TargetOption option) {
  const std::string what = Describe(*kind_, option.name);
  if (kind_->FindOption(option.name)) KP_THROW(ValueError) << what << " is declared twice";
  if (!IsKindName(option.name) || option.name == "kind" || option.name == "feature") {
    KP_THROW(ValueError) << what << ": expected a name of lower-case letters, digits, _ and -";
  }
  AttrValue& otherwise = option.traits.default_value;
  if (!otherwise.is_none()) otherwise = CheckOption(*kind_, option, otherwise, Nesting{});
  kind_->options_.push_back(std::move(option));
  return *this;
}

const TargetKind& TargetKindBuilder::Register() {
  if (!IsKindName(kind_->name_)) {
    KP_THROW(ValueError) << "target kind " << Quoted(kind_->name_)
                         << ": expected a name of lower-case letters, digits, _ and -, beginning with a letter";
  }
  KindRegistry& registry = Kinds();
  const std::lock_guard lock(registry.mutex);
  const auto [place, added] = registry.kinds.try_emplace(kind_->name_, nullptr);
  if (!added) KP_THROW(ValueError) << "target kind '" << place->first << "' is registered already";
  place->second = std::move(kind_);
  return *place->second;
}

}  // namespace kernpack::sdk
