// Text for people and for results.
#ifndef KERNPACK_BACKENDS_CUDA_TEXT_H_
#define KERNPACK_BACKENDS_CUDA_TEXT_H_

#include <string>

#include <kernpack/abi.h>

namespace kernpack::cuda {

__attribute__((format(printf, 1, 2))) std::string Format(const char* format, ...);

// *out is RAW_STR, valid until this thread's next call of this function.
void SetText(std::string text, KpAny* out);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_TEXT_H_
