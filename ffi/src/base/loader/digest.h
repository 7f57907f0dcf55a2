// The digest that names a shared object's content: SHA-256, 64 lower-case hexadecimal digits; and as files of Python's packages have it.
#ifndef KERNPACK_SRC_BASE_LOADER_DIGEST_H_
#define KERNPACK_SRC_BASE_LOADER_DIGEST_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace kernpack::host {

std::string Digest(std::span<const char> content);

// The same digest as RECORD has it: base64 for URLs, without padding.
inline constexpr size_t kDigestText = 43;
std::string DigestText(std::string_view digest);
// And back; false where the text isn't a digest.
bool ReadDigestText(std::string_view text, std::string* digest);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_LOADER_DIGEST_H_
