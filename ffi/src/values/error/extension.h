// What get_extension answers for KP_BACKTRACE_EXTENSION.
#ifndef KERNPACK_SRC_VALUES_ERROR_EXTENSION_H_
#define KERNPACK_SRC_VALUES_ERROR_EXTENSION_H_

#include <kernpack/abi.h>

namespace kernpack::host {

// NULL unless KERNPACK_BACKTRACE asks for backtraces.
const KpBacktrace* BacktraceExtension() noexcept;

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_VALUES_ERROR_EXTENSION_H_
