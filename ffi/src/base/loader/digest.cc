#include "base/loader/digest.h"

#include <array>
#include <cstdint>

#include "shared/sha256.h"

namespace kernpack::host {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr uint8_t kNoDigit = 255;

// The value of each character as a digit. Every load of a file reads and writes digests.
constexpr std::array<uint8_t, 256> GetValues(std::string_view digits) {
  std::array<uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (size_t i = 0; i < digits.size(); ++i) values[static_cast<unsigned char>(digits[i])] = static_cast<uint8_t>(i);
  return values;
}
constexpr auto kValues = GetValues(kDigits);
constexpr auto kHexValues = GetValues(kHexDigits);

}  // namespace

std::string Digest(std::span<const char> content) { return Sha256Hex(content.data(), content.size()); }

std::string DigestText(std::string_view digest) {
  std::string text;
  text.reserve(kDigestText);
  size_t pending = 0;
  int bits = 0;
  for (const char c : digest) {
    pending = (pending << 4 & 1023) | kHexValues[static_cast<unsigned char>(c)];
    for (bits += 4; bits >= 6; bits -= 6) text += kDigits[(pending >> (bits - 6)) & 63];
  }
  if (bits > 0) text += kDigits[(pending << (6 - bits)) & 63];
  return text;
}

bool ReadDigestText(std::string_view text, std::string* digest) {
  digest->clear();
  digest->reserve(kSha256Digits + 1);
  if (text.size() != kDigestText) return false;
  size_t pending = 0;
  int bits = 0;
  for (const char c : text) {
    const uint8_t value = kValues[static_cast<unsigned char>(c)];
    if (value == kNoDigit) return false;
    pending = (pending << 6 & 1023) | value;
    for (bits += 6; bits >= 4; bits -= 4) *digest += kHexDigits[(pending >> (bits - 4)) & 15];
  }
  digest->resize(kSha256Digits);
  return true;
}

}  // namespace kernpack::host
