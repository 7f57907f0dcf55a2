// Exceptions of the C++ library that torch was built with, which may be another one than the host's.
#ifndef KERNPACK_SRC_GUESTS_TORCH_THROW_H_
#define KERNPACK_SRC_GUESTS_TORCH_THROW_H_

namespace kernpack::torch {

using Throw = void (*)(const char* text);

// The function of that library that throws std::invalid_argument, or std::runtime_error. NULL if the library isn't in the process.
Throw FindThrow(bool invalid_argument);

}  // namespace kernpack::torch

#endif  // KERNPACK_SRC_GUESTS_TORCH_THROW_H_
