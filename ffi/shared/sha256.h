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

#if defined(__x86_64__)
// Asks the processor for its instructions; it may run more than once. libcrypto runs it from the section .init, which libraries that zig
// links don't run: without it, hashing doesn't use the SHA instructions and takes four times as long.
extern "C" void OPENSSL_cpuid_setup(void);
#endif

namespace kernpack {

inline constexpr size_t kSha256Digits = 64;

using Sha256Bytes = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

// The digest of content that comes in pieces.
class Sha256Stream {
 public:
  Sha256Stream() {
#if defined(__x86_64__)
    static const bool kIsAsked = (OPENSSL_cpuid_setup(), true);
    (void)kIsAsked;
#endif
    SHA256_Init(&state_);
  }
  void Add(const void* data, size_t size) { SHA256_Update(&state_, data, size); }
  // To be called once.
  Sha256Bytes Finish() {
    Sha256Bytes digest;
    SHA256_Final(digest.data(), &state_);
    return digest;
  }

 private:
  SHA256_CTX state_;
};

inline Sha256Bytes Sha256(const void* data, size_t size) {
  Sha256Stream stream;
  stream.Add(data, size);
  return stream.Finish();
}

// 64 lower-case hexadecimal digits.
inline std::string Sha256Hex(const Sha256Bytes& digest) {
  std::string text;
  text.reserve(kSha256Digits);
  for (const unsigned char byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}
inline std::string Sha256Hex(const void* data, size_t size) { return Sha256Hex(Sha256(data, size)); }

}  // namespace kernpack

#endif  // KERNPACK_SHARED_SHA256_H_
