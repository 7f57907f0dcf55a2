// The toy's kernels. A program has one a line:
//
//     kernel axpy: a0 a1 * a2 + -> a2
//
// Each thread works on its own element: a0, a1, ... are the arguments, numbers or memory of f32; the formula is in reverse
// Polish notation with + - * and numbers.
#ifndef TOY_PROGRAM_H_
#define TOY_PROGRAM_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "toy.h"

namespace toy {

class Memory;

struct Step {
  char what;  // '+', '-', '*', 'a': argument, 'n': number
  size_t index;  // of the argument
  float number;
};

struct Kernel {
  std::string name;
  std::vector<Step> steps;
  size_t result;  // argument
  size_t arguments;
};

struct Program {
  std::vector<Kernel> kernels;
};

Program Compile(std::string_view text);

// An argument of a launch, checked and bound to an address.
struct Argument {
  float* memory;  // NULL: a number
  float number;
};
std::vector<Argument> Bind(const Kernel& kernel, const KpLaunch& launch, uint64_t threads, KpDLDevice device,
                           const Memory& memory);
void Execute(const Kernel& kernel, const std::vector<Argument>& arguments, uint64_t threads);

}  // namespace toy

#endif  // TOY_PROGRAM_H_
