#include <kernpack/error.h>
#include <kernpack/sdk/target.h>
#include <kernpack/sdk/target_tag.h>

#include <algorithm>
#include <mutex>

#include "target/builtin.h"
#include "target/construct.h"
#include "target/json.h"
#include "target/suggest.h"

namespace kernpack::sdk {
namespace {

struct TagRegistry {
  std::mutex mutex;
  std::map<std::string, std::string, std::less<>> definitions;

  TagRegistry() {
    for (const BuiltInTag* list : {kNvidiaTags, kX86Tags, kArmTags}) {
      for (const BuiltInTag* tag = list; tag->name; ++tag) definitions.emplace(tag->name, tag->definition);
    }
  }
};

TagRegistry& Tags() {
  static TagRegistry& registry = *new TagRegistry;  // leaked, as the kinds are
  return registry;
}

bool IsTagName(std::string_view name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789._+/-";
  const bool first = !name.empty() && ((name[0] >= 'a' && name[0] <= 'z') || (name[0] >= '0' && name[0] <= '9'));
  return first && name.find_first_not_of(kAllowed) == std::string_view::npos;
}

}  // namespace

bool TargetTag::Exists(std::string_view name) {
  TagRegistry& registry = Tags();
  const std::lock_guard lock(registry.mutex);
  return registry.definitions.find(name) != registry.definitions.end();
}

std::vector<std::string> TargetTag::List() {
  TagRegistry& registry = Tags();
  const std::lock_guard lock(registry.mutex);
  std::vector<std::string> names;
  for (const auto& [name, definition] : registry.definitions) names.push_back(name);
  return names;
}

std::optional<std::string> TargetTag::Get(std::string_view name) {
  TagRegistry& registry = Tags();
  const std::lock_guard lock(registry.mutex);
  const auto found = registry.definitions.find(name);
  if (found == registry.definitions.end()) return std::nullopt;
  return found->second;
}

void TargetTag::Add(std::string name, std::string definition, bool replace) {
  if (!IsTagName(name)) {
    KP_THROW(ValueError) << "target tag " << Quoted(name)
                         << ": expected lower-case letters, digits and ._+/-, such as \"acme/npu-4\"";
  }
  if (TargetKind::Find(name)) KP_THROW(ValueError) << "target tag '" << name << "': a target kind has that name";
  TagRegistry& registry = Tags();
  const std::lock_guard lock(registry.mutex);
  const auto [place, added] = registry.definitions.try_emplace(name, definition);
  if (added || place->second == definition) return;
  if (!replace) {
    KP_THROW(ValueError) << "target tag '" << name << "' stands for " << Quoted(place->second)
                         << " already; pass replace, or choose another name";
  }
  place->second = std::move(definition);
}

void TargetTag::Add(std::string name, const AttrMap& config, bool replace) {
  Add(std::move(name), MapToJson(config), replace);
}

AttrMap ConfigFromTag(std::string_view tag, Nesting& nesting) {
  const std::string name(tag);
  const auto definition = TargetTag::Get(name);
  if (!definition) {
    KP_THROW(ValueError) << "no target tag is called " << Quoted(name) << Suggest(name, TargetTag::List())
                         << "; kernpack_compiler.list_tags() lists them";
  }
  const bool cycle = std::find(nesting.tags.begin(), nesting.tags.end(), name) != nesting.tags.end();
  nesting.tags.push_back(name);
  if (cycle) {
    std::string path;
    for (const std::string& step : nesting.tags) path += (path.empty() ? "" : " -> ") + step;
    KP_THROW(ValueError) << "target tag '" << name << "' is circular: " << path;
  }
  AttrMap config = ConfigFromText(*definition, nesting);
  config.insert_or_assign("tag", name);
  return config;
}

}  // namespace kernpack::sdk
