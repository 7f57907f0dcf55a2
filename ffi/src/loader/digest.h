// The digest that names a shared object's content: SHA-256, 64 lower-case hexadecimal digits.
#ifndef KERNPACK_SRC_LOADER_DIGEST_H_
#define KERNPACK_SRC_LOADER_DIGEST_H_

#include <span>
#include <string>

namespace kernpack::host {

std::string Digest(std::span<const char> content);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_LOADER_DIGEST_H_
