// The boundary of every exported function: no C++ exception leaves libkernpack.
#ifndef KERNPACK_SRC_BASE_GUARD_H_
#define KERNPACK_SRC_BASE_GUARD_H_

#include <utility>

namespace kernpack::host {

// Turns the exception being handled into a raised error: bad_alloc is a MemoryError, any other an InternalError that
// carries what(). Returns -1. Call it inside a catch block only.
int RaiseCurrentException(const char* who) noexcept;

// Runs `body` (returning int) and turns whatever it throws into an error raised for `who`.
template <class Body>
int Guard(const char* who, Body&& body) noexcept {
  try {
    return std::forward<Body>(body)();
  } catch (...) {
    return RaiseCurrentException(who);
  }
}

}  // namespace kernpack::host

#endif  // KERNPACK_SRC_BASE_GUARD_H_
