// Where a constraint came from, for errors that name both sides.
#ifndef KERNPACK_SDK_PROGRAMS_PLAN_ORIGIN_H_
#define KERNPACK_SDK_PROGRAMS_PLAN_ORIGIN_H_

#include <kernpack/sdk/program/program.h>

namespace kernpack::sdk::program {

enum class OriginKind : uint8_t {
  kNone,
  kAnnotation,  // of a value; index: the value
  kResultAnnotation,  // of what a program returns; index: which
  kFunction,  // what a called function runs on, or the memory it wants; index: the step
  kHost,  // scalars, shapes and tuples live on the host; index: the value
};

struct Origin {
  OriginKind kind = OriginKind::kNone;
  uint32_t program = 0;
  uint32_t index = 0;

  // True if an annotation asks for the device, or if there is no choice: a copy may then bridge a difference.
  bool permits_copy() const { return kind != OriginKind::kFunction; }
};

// "the annotation of 'x' (line 3, column 5)", "call kernels.gelu (line 7, column 3)".
std::string Describe(const ProgramModule& module, const Origin& origin);

}  // namespace kernpack::sdk::program

#endif  // KERNPACK_SDK_PROGRAMS_PLAN_ORIGIN_H_
