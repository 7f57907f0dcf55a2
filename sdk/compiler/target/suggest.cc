#include "target/suggest.h"

namespace kernpack::sdk {

std::string List(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::string Quoted(std::string_view text) {
  constexpr size_t kMost = 120;
  std::string out = "'";
  for (char c : text.substr(0, kMost)) out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  return out + (text.size() > kMost ? "...'" : "'");
}

std::string Literal(std::string_view text) {
  const char quote = text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (char c : text) {
    constexpr const char* kDigits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      continue;
    }
    if (c == quote || c == '\\') out += '\\';
    out += c;
  }
  return out + quote;
}

}  // namespace kernpack::sdk
