// The type that a step gives its result when nobody says another: what the text form leaves out.
#ifndef KERNPACK_SDK_PROGRAMS_PROGRAM_DEFAULT_TYPE_H_
#define KERNPACK_SDK_PROGRAMS_PROGRAM_DEFAULT_TYPE_H_

#include <kernpack/sdk/program/program.h>

namespace kernpack::sdk::program {

// From the types of its arguments, which `program` has. Unknown for calls and for `if` and `invoke`.
Type DefaultType(const Program& program, const Step& step);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PROGRAM_DEFAULT_TYPE_H_
