// The command-line form of a target, as text: "cuda -arch=sm_90 -libs=cublas,'my lib'". One reader and one writer of its
// quoting, for the host, which matches targets, and the SDK, which makes them. C++17, header-only.
//
// Words stand between spaces. Inside '...' spaces and commas are ordinary; a backslash makes the next character ordinary,
// inside quotes too.
#ifndef KERNPACK_SHARED_TARGET_TEXT_H_
#define KERNPACK_SHARED_TARGET_TEXT_H_

#include <string>
#include <string_view>
#include <vector>

namespace kernpack::host {

// Splits on any of `separators` outside quotes; the parts still carry their quotes. Returns NULL, or what is wrong.
inline const char* SplitQuoted(std::string_view text, std::string_view separators,
                               std::vector<std::string_view>* parts) {
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      if (++i == text.size()) return "a trailing backslash escapes nothing";
    } else if (text[i] == '\'') {
      quoted = !quoted;
    } else if (!quoted && separators.find(text[i]) != std::string_view::npos) {
      parts->push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  if (quoted) return "unclosed quote '";
  parts->push_back(text.substr(begin));
  return nullptr;
}

// Words between spaces, tabs and line ends; the words still carry their quotes. Returns NULL, or what is wrong.
inline const char* SplitWords(std::string_view text, std::vector<std::string_view>* words) {
  std::vector<std::string_view> parts;
  const char* wrong = SplitQuoted(text, " \t\r\n", &parts);
  for (std::string_view part : parts) {
    if (!part.empty()) words->push_back(part);
  }
  return wrong;
}

struct TargetOption {
  std::string_view name;  // without its dashes
  std::string_view raw;  // still quoted; "true" where only the name stands
};

// A target taken apart but not checked against any kind. Borrows the text.
struct TargetWords {
  std::string_view kind;
  std::vector<TargetOption> options;

  // NULL: not given.
  const TargetOption* Find(std::string_view name) const {
    for (const TargetOption& option : options) {
      if (option.name == name) return &option;
    }
    return nullptr;
  }
};

// "" and *out, or what is wrong.
inline std::string ReadTargetWords(std::string_view text, TargetWords* out) {
  std::vector<std::string_view> words;
  if (const char* wrong = SplitWords(text, &words)) return wrong;
  if (words.empty()) return "the target is empty";
  out->kind = words[0];
  for (size_t i = 1; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (word[0] != '-') return "expected an option, got " + std::string(word);
    word.remove_prefix(word.substr(0, 2) == "--" ? 2 : 1);
    const size_t equals = word.find('=');
    const bool alone = equals == std::string_view::npos;
    out->options.push_back({word.substr(0, equals), alone ? std::string_view("true") : word.substr(equals + 1)});
  }
  return "";
}

// Text that SplitQuoted found well-formed, without its quotes and backslashes.
inline std::string Unquote(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\'') continue;
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    out += text[i];
  }
  return out;
}

// `text` in quotes, such that Unquote gives it back.
inline std::string QuoteAlways(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + '\'';
}

// As QuoteAlways, but plain text stays as it is.
inline std::string Quote(std::string_view text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-./:=@%~";
  const bool plain = !text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos;
  return plain ? std::string(text) : QuoteAlways(text);
}

}  // namespace kernpack::host

#endif  // KERNPACK_SHARED_TARGET_TEXT_H_
