// Text of any form to a config: kind name, tag, JSON, command line.
#include <kernpack/error.h>
#include "shared/target_text.h"
#include <kernpack/sdk/target_tag.h>

#include <algorithm>

#include "target/json.h"
#include "target/option.h"
#include "target/suggest.h"

namespace kernpack::sdk {
namespace {

// "-arch=sm_90", "--arch=sm_90" or, for all but a bool, "-arch" with the value as the next word.
struct Option {
  std::string_view key;
  std::optional<std::string_view> raw;
};

Option SplitOption(std::string_view word) {
  std::string_view text = word;
  if (!text.starts_with('-')) {
    KP_THROW(ValueError) << "expected an option such as -arch=sm_90 or -libs=a,b, got " << Quoted(word)
                         << " (text with spaces goes in quotes: -model='two words')";
  }
  text.remove_prefix(text.starts_with("--") ? 2 : 1);
  const size_t equals = text.find('=');
  Option option{text.substr(0, equals), std::nullopt};
  if (equals != std::string_view::npos) option.raw = text.substr(equals + 1);
  if (option.key.empty() || option.key.starts_with('-')) {
    KP_THROW(ValueError) << "expected an option's name after '-', got " << Quoted(word);
  }
  if (option.raw && option.raw->empty()) {
    KP_THROW(ValueError) << "option " << Quoted(option.key) << " has no value after '='; write '' for an empty string";
  }
  return option;
}

AttrValue ReadOption(const TargetKind& kind, Option option, const std::vector<std::string_view>& words, size_t* next) {
  const bool feature = option.key.starts_with(kFeature);
  const TargetOption* declared = feature ? nullptr : kind.FindOption(option.key);
  if (!declared && !feature) UnknownOption(kind, option.key);
  if (!option.raw) {
    if (feature || declared->type.kind == OptionType::Kind::kBool) return true;
    const bool follows = *next < words.size() && !words[*next].starts_with('-');
    if (!follows) KP_THROW(ValueError) << Describe(kind, option.key) << ": a value is missing";
    option.raw = words[(*next)++];
  }
  return feature ? InterpretUntyped(*option.raw) : Interpret(*option.raw, declared->type, Describe(kind, option.key));
}

AttrMap ConfigFromHead(const std::string& head, Nesting& nesting) {
  if (TargetKind::Find(head)) return {{"kind", head}};
  if (TargetTag::Exists(head)) {
    AttrMap config = ConfigFromTag(head, nesting);
    config.insert_or_assign("tag", head);
    return config;
  }
  std::vector<std::string> known = TargetKind::List();
  const std::string kinds = List(known);
  for (std::string& tag : TargetTag::List()) known.push_back(std::move(tag));
  KP_THROW(ValueError) << "no target kind or tag is called " << Quoted(head) << Suggest(head, known)
                       << "; kinds: " << kinds << "; tags: kernpack_compiler.list_tags()";
}

AttrMap ConfigFromWords(std::string_view text, Nesting& nesting) {
  std::vector<std::string_view> words;
  if (const char* wrong = host::SplitWords(text, &words)) KP_THROW(ValueError) << wrong;
  if (words.empty()) KP_THROW(ValueError) << "expected a target kind or tag, got an empty string";
  AttrMap config = ConfigFromHead(std::string(words[0]), nesting);
  const TargetKind& kind = TargetKind::Get(*config.at("kind").If<std::string>());
  std::vector<std::string_view> given;
  for (size_t next = 1; next < words.size();) {
    const Option option = SplitOption(words[next++]);
    if (std::find(given.begin(), given.end(), option.key) != given.end()) {
      KP_THROW(ValueError) << "option " << Quoted(option.key) << " is given twice";
    }
    given.push_back(option.key);
    config.insert_or_assign(std::string(option.key), ReadOption(kind, option, words, &next));
  }
  return config;
}

}  // namespace

AttrMap ResolveTag(AttrMap config, Nesting& nesting) {
  const auto tag = config.find("tag");
  if (config.contains("kind") || tag == config.end()) return config;
  const auto* name = tag->second.If<std::string>();
  if (!name) KP_THROW(TypeError) << "tag: expected str, got " << tag->second.type_name();
  AttrMap whole = ConfigFromTag(*name, nesting);
  for (auto& [key, value] : config) whole.insert_or_assign(key, value);
  return whole;
}

AttrMap ConfigFromText(std::string_view text, Nesting& nesting) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != std::string_view::npos && text[first] == '{';
  return is_json ? ResolveTag(MapFromJson(text, "target"), nesting) : ConfigFromWords(text, nesting);
}

}  // namespace kernpack::sdk
