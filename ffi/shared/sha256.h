// SHA-256 of bytes, from OpenSSL's libcrypto: what names content wherever code is run because of its name, and what pip wrote down
// of every file that it installed, so that one pass serves both. The plain functions rather than EVP: those bring 20 KB with them,
// the others all of OpenSSL, and both run the same code for the processor that is there.
#ifndef KERNPACK_SHARED_SHA256_H_
#define KERNPACK_SHARED_SHA256_H_

#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#include <array>
#include <cstddef>
#include <string>

namespace kernpack {

inline constexpr size_t kSha256Digits = 64;

inline std::array<unsigned char, SHA256_DIGEST_LENGTH> Sha256(const void* data, size_t size) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, data, size);
  SHA256_Final(digest.data(), &state);
  return digest;
}

// 64 lower-case hexadecimal digits.
inline std::string Sha256Hex(const void* data, size_t size) {
  std::string text;
  text.reserve(kSha256Digits);
  for (const unsigned char byte : Sha256(data, size)) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace kernpack

#endif  // KERNPACK_SHARED_SHA256_H_
