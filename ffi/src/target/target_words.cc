#include "target/target_words.h"

#include <algorithm>

#include <kernpack/host/target_text.h>

namespace kernpack::host {

const TargetOption* TargetWords::Find(std::string_view name) const {
  const auto found = std::find_if(options.begin(), options.end(), [&](const auto& o) { return o.name == name; });
  return found == options.end() ? nullptr : &*found;
}

std::string ReadTargetWords(std::string_view text, TargetWords* out) {
  std::vector<std::string_view> words;
  if (const char* wrong = SplitWords(text, &words)) return wrong;
  if (words.empty()) return "the target is empty";
  out->kind = words[0];
  for (size_t i = 1; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (!word.starts_with('-')) return "expected an option, got " + std::string(word);
    word.remove_prefix(word.starts_with("--") ? 2 : 1);
    const size_t equals = std::min(word.find('='), word.size());
    out->options.push_back(
        {word.substr(0, equals), equals < word.size() ? word.substr(equals + 1) : std::string_view("true")});
  }
  return "";
}

std::string ReadCpuSpec(const TargetWords& target, CpuSpec* out) {
  std::string triple;
  std::string cpu;
  std::string attributes;
  std::vector<std::string_view> list;
  for (const TargetOption& option : target.options) {
    if (option.name == "mtriple") triple = Unquote(option.raw);
    if (option.name == "mcpu") cpu = Unquote(option.raw);
    if (option.name == "mattr" && option.raw != "[]") attributes = Unquote(option.raw);  // no feature has a comma
  }
  if (!attributes.empty()) {
    if (const char* wrong = SplitQuoted(attributes, ",", &list)) return wrong;
  }
  return ReadCpuSpec(triple, cpu, list, false, out);
}

}  // namespace kernpack::host
