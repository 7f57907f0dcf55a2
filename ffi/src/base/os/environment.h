// Variables of the environment that hold paths.
#ifndef KERNPACK_SRC_BASE_OS_ENVIRONMENT_H_
#define KERNPACK_SRC_BASE_OS_ENVIRONMENT_H_

#include <string>

namespace kernpack::host::os {

// The variable's value, in UTF-8 on Windows; empty if it isn't set. std::getenv, which serves variables that hold plain words, gives
// the characters of Windows' old code pages.
std::string GetVariable(const char* name);

}  // namespace kernpack::host::os

#endif  // KERNPACK_SRC_BASE_OS_ENVIRONMENT_H_
