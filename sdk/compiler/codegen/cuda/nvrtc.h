// NVIDIA's run-time compiler, opened when it is first needed. It needs no GPU and no driver.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_CUDA_NVRTC_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_CUDA_NVRTC_H_

#include <string>

namespace kernpack::nvrtc {
struct Library;
}

namespace kernpack::sdk {

class Nvrtc {
 public:
  // RuntimeError that says where it was looked for and how to get it. What fails is tried again at the next call.
  static const Nvrtc& Get();

  // True if NVRTC makes code for that architecture: "sm_90", "compute_80".
  bool Knows(const std::string& arch) const;
  // A cubin for sm_*, PTX for compute_*; `contracts`: multiply and add may become one operation. ValueError for an architecture that it does not know, listing those it does;
  // RuntimeError with the compiler's log where the program does not compile.
  std::string Compile(const std::string& program, const std::string& name, const std::string& arch,
                      bool contracts) const;
  // "12.8"
  const std::string& version() const;

 private:
  const nvrtc::Library* library_ = nullptr;

  static Nvrtc Open();
};

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_CUDA_NVRTC_H_
