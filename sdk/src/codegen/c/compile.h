// Running the C compiler of the machine.
#ifndef KERNPACK_SDK_SRC_CODEGEN_C_COMPILE_H_
#define KERNPACK_SDK_SRC_CODEGEN_C_COMPILE_H_

#include <kernpack/sdk/target.h>

namespace kernpack::sdk {

// Compiles one C file into the shared object `path` for the target's processor. RuntimeError when there is no compiler,
// naming where it was looked for, and when it fails, with what it printed.
void CompileC(const std::string& source, const Target& target, const std::string& path);

// A directory of our own that goes when this does.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_SRC_CODEGEN_C_COMPILE_H_
