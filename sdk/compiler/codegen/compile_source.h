// Running the machine's C compiler on generated sources.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_COMPILE_SOURCE_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_COMPILE_SOURCE_H_

#include <kernpack/abi.h>
#include <kernpack/sdk/target.h>

#include <string>
#include <string_view>
#include <vector>

namespace kernpack::sdk {

// A module of one file of C99. It may include the headers of c_headers.h.
struct SourceFile {
  const char* kind;  // of the generator, for messages
  std::string text;
  bool computes = true;  // false: little, and it is compiled quickly instead
  // Further inputs of the linker.
  std::string_view object = {};  // bytes of an object file; may be empty
  std::vector<std::string> link_options = {};
};

// Compiles it into the shared object `path`, for the processor of the target (of its host, where it has one). RuntimeError when
// there is no compiler, naming where it was looked for, and when it fails, with what it printed.
void ExportSource(const SourceFile& source, const Target& target, const std::string& path);
// Compiles and loads it for good. `name`: of the module.
const KpModule* LoadSource(const SourceFile& source, const Target& target, const std::string& name);

// True if multiply and add may become one operation: the IR allows it unless the target forbids it.
bool Contracts(const Target& target);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_COMPILE_SOURCE_H_
