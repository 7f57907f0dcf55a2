// The text form of programs, read back.
#ifndef KERNPACK_SDK_PROGRAM_TEXT_H_
#define KERNPACK_SDK_PROGRAM_TEXT_H_

#include <kernpack/sdk/program/program.h>

namespace kernpack::sdk::program {

// ValueError: "line 3, column 9: expected ..., got ...". Names of values are resolved in order: one that is used before its
// definition, or never defined, is an error here. Calls are not looked up: Verify() does.
ProgramModule Parse(std::string_view text);

// "@cuda:1 target "cuda -arch=sm_90" scope "global"": the parts that are not open; "" when all are.
std::string PrintDevice(const VirtualDevice& device);
// A constant as the text form writes it: 1e-06, 3, true, "mean", f32, None, [2, 3].
std::string PrintConstant(const Constant& constant);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAM_TEXT_H_
