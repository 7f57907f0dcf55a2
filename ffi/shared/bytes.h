// KpBytes and std::string_view, both ways.
#ifndef KERNPACK_SHARED_BYTES_H_
#define KERNPACK_SHARED_BYTES_H_

#include <string_view>

#include <kernpack/abi.h>

namespace kernpack::host {

inline std::string_view View(KpBytes bytes) { return bytes.size ? std::string_view(bytes.data, bytes.size) : ""; }
inline KpBytes Bytes(std::string_view text) { return KpBytes{text.data(), text.size()}; }

// For "%.*s" with text that may be long or hold anything: the first bytes of it.
inline int PrintLength(std::string_view text) { return text.size() > 200 ? 200 : static_cast<int>(text.size()); }

}  // namespace kernpack::host

#endif  // KERNPACK_SHARED_BYTES_H_
