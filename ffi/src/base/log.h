// Log lines of the library itself.
#ifndef KERNPACK_SRC_BASE_LOG_H_
#define KERNPACK_SRC_BASE_LOG_H_

#include <cstdint>
#include <string_view>

namespace kernpack::host {

// Writes one line to standard error when KERNPACK_LOG asks for `level` (KpLogLevel); silent otherwise.
void Log(int32_t level, std::string_view line);

// True if KERNPACK_LOG enables `level`. Ask before you make a line that takes time.
bool Logs(int32_t level);

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_LOG_H_
