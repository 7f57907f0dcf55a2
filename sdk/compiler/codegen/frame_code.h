// The frame's object code (frame/), which exported modules are linked with.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_FRAME_CODE_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_FRAME_CODE_H_

#include <string>
#include <string_view>

namespace kernpack::sdk {

// Bytes of object files, as frame/CMakeLists.txt makes them.
struct FrameCode {
  std::string_view in_library;  // with what answers the aliases
  std::string_view in_program;
};

// For a machine of that triple; "" is this one. Empty where this build of the SDK holds none.
FrameCode FindFrame(const std::string& triple);
// The frame for a machine. NotImplementedError, which lists the available frames, if there is none.
FrameCode FrameFor(const std::string& triple);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_FRAME_CODE_H_
