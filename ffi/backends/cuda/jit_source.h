// CUDA C++ that is compiled on the machine that runs it: the text, and what the module says about it in lines before the text.
#ifndef KERNPACK_BACKENDS_CUDA_JIT_SOURCE_H_
#define KERNPACK_BACKENDS_CUDA_JIT_SOURCE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kernpack::cuda {

struct JitSource {
  std::string name;  // in messages: "rows.cu"
  std::vector<std::string> options;  // of NVRTC
  std::vector<std::string> kernels;  // that the module names, templates with their arguments; for `kernpack warm`
  std::vector<std::pair<std::string, std::string>> headers;  // names and texts that the module carries
  std::string stand_in;  // PTX of its kernels, which runs while they are compiled; "" if there is none
  std::string text;  // what NVRTC gets
  std::string digest;  // of all this

  // True if headers are included that the module doesn't carry.
  bool NeedsHeaders() const;
};

// `image` is a record (its first line is kernpack.cuda.1), or just CUDA C++. `options`: further ones, with spaces between them.
// False with *why.
bool ReadJitSource(std::string_view image, std::string_view options, JitSource* out, std::string* why);

}  // namespace kernpack::cuda

#endif  // KERNPACK_BACKENDS_CUDA_JIT_SOURCE_H_
