// The frame's part that is plain C (codegen/frame/arguments.h), as text that stands in a generated file.
#ifndef KERNPACK_SDK_COMPILER_CODEGEN_C_FRAME_TEXT_H_
#define KERNPACK_SDK_COMPILER_CODEGEN_C_FRAME_TEXT_H_

#include <string>

namespace kernpack::sdk::ir {

// Without include guards; it includes headers of kernpack and of the C library alone.
std::string FrameText();

}  // namespace kernpack::sdk::ir

#endif  // KERNPACK_SDK_COMPILER_CODEGEN_C_FRAME_TEXT_H_
