// A program as the C source of a module: how a planned program ships in a wheel and runs where there is no SDK.
#ifndef KERNPACK_SDK_SRC_EXECUTE_SOURCE_H_
#define KERNPACK_SDK_SRC_EXECUTE_SOURCE_H_

#include "execute/prepared.h"

namespace kernpack::sdk::program {

// See Executor::Source.
std::string WriteSource(const Prepared& prepared, const std::string& module, const std::string& version);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_SRC_EXECUTE_SOURCE_H_
