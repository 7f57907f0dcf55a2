// A choice between two kernels of an op, by a variable of the environment, which each call reads: for kernels that no GPU has measured yet.
#pragma once

#include <kernpack/kernel.h>

#include <cstdlib>
#include <string>

namespace kk_cuda {

// True if the variable is `newer`, false if it is `older`, empty or not there.
inline bool Chooses(const char* op, const char* variable, const char* newer, const char* older) {
  const char* const chosen = std::getenv(variable);
  if (chosen == nullptr || *chosen == '\0' || std::string(chosen) == older) return false;
  KP_CHECK(std::string(chosen) == newer, ValueError) << op << ": expected the variable " << variable << " to be '"
                                                     << older << "' or '" << newer << "', got '" << chosen << "'";
  return true;
}

}  // namespace kk_cuda
