// The frame's object code, which exported modules are linked with.
#ifndef KERNPACK_SDK_SRC_CODEGEN_LLVM_FRAME_CODE_H_
#define KERNPACK_SDK_SRC_CODEGEN_LLVM_FRAME_CODE_H_

#include <string>
#include <string_view>

namespace kernpack::sdk::ir {

// Bytes of object files, as ../frame/CMakeLists.txt makes them.
struct FrameCode {
  std::string_view in_library;  // with what answers the aliases
  std::string_view in_program;
};

// For a machine of that triple. NotImplementedError, which lists those there are, where this library holds none.
FrameCode FrameFor(const std::string& triple);

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_SRC_CODEGEN_LLVM_FRAME_CODE_H_
