// SHA-256 of bytes, from OpenSSL's libcrypto, and on Windows from the system: what names content wherever code is run because of its
// name, and what pip wrote down of every file that it installed, so that one pass serves both. The plain functions of OpenSSL rather
// than EVP: those bring 20 KB with them, the others all of OpenSSL, and both run the same code for the processor that is there.
#ifndef KERNPACK_SHARED_SHA256_H_
#define KERNPACK_SHARED_SHA256_H_

#if defined(_WIN32)
#include "shared/windows_api.h"

// After it: it doesn't declare what it uses.
#include <bcrypt.h>

#include <algorithm>
#else
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#endif

#include <array>
#include <cstddef>
#include <string>

#if defined(__x86_64__) && !defined(_WIN32)
// Asks the processor for its instructions; it may run more than once. libcrypto runs it from the section .init, which libraries that zig
// links don't run: without it, hashing doesn't use the SHA instructions and takes four times as long.
extern "C" void OPENSSL_cpuid_setup(void);
#endif

namespace kernpack {

inline constexpr size_t kSha256Digits = 64;

using Sha256Bytes = std::array<unsigned char, kSha256Digits / 2>;

#if defined(_WIN32)
// The digest of content that comes in pieces.
class Sha256Stream {
 public:
  Sha256Stream() {
    static const BCRYPT_ALG_HANDLE algorithm = [] {
      BCRYPT_ALG_HANDLE opened = nullptr;
      BCryptOpenAlgorithmProvider(&opened, BCRYPT_SHA256_ALGORITHM, nullptr, 0);
      return opened;
    }();
    // Never a digest of nothing in the place of a digest: code is run by its name.
    if (BCryptCreateHash(algorithm, &hash_, nullptr, 0, nullptr, 0, 0) < 0) __builtin_trap();
  }
  Sha256Stream(const Sha256Stream&) = delete;
  Sha256Stream& operator=(const Sha256Stream&) = delete;
  ~Sha256Stream() { BCryptDestroyHash(hash_); }
  void Add(const void* data, size_t size) {
    constexpr size_t kMost = size_t{1} << 30;
    auto* bytes = static_cast<unsigned char*>(const_cast<void*>(data));
    for (size_t at = 0; at < size; at += kMost) {
      if (BCryptHashData(hash_, bytes + at, static_cast<ULONG>(std::min(size - at, kMost)), 0) < 0) __builtin_trap();
    }
  }
  // To be called once.
  Sha256Bytes Finish() {
    Sha256Bytes digest;
    if (BCryptFinishHash(hash_, digest.data(), static_cast<ULONG>(digest.size()), 0) < 0) __builtin_trap();
    return digest;
  }

 private:
  BCRYPT_HASH_HANDLE hash_ = nullptr;
};
#else
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
#endif

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
