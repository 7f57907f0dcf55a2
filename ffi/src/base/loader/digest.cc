#include "base/loader/digest.h"

#include "shared/sha256.h"

namespace kernpack::host {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kHexDigits = "0123456789abcdef";

}  // namespace

std::string Digest(std::span<const char> content) { return Sha256Hex(content.data(), content.size()); }

std::string DigestText(std::string_view digest) {
  std::string text;
  text.reserve(kDigestText);
  size_t pending = 0;
  int bits = 0;
  for (const char c : digest) {
    pending = (pending << 4 & 1023) | kHexDigits.find(c);
    for (bits += 4; bits >= 6; bits -= 6) text += kDigits[(pending >> (bits - 6)) & 63];
  }
  if (bits > 0) text += kDigits[(pending << (6 - bits)) & 63];
  return text;
}

bool ReadDigestText(std::string_view text, std::string* digest) {
  digest->clear();
  if (text.size() != kDigestText) return false;
  size_t pending = 0;
  int bits = 0;
  for (const char c : text) {
    const size_t value = kDigits.find(c);
    if (value == std::string_view::npos) return false;
    pending = (pending << 6 & 1023) | value;
    for (bits += 6; bits >= 4; bits -= 4) *digest += kHexDigits[(pending >> (bits - 4)) & 15];
  }
  digest->resize(kSha256Digits);
  return true;
}

}  // namespace kernpack::host
