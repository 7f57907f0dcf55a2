// Which instructions a module has, and which of them aren't emulated.
#ifndef KERNPACK_SDK_EMULATOR_PROGRAM_SURVEY_H_
#define KERNPACK_SDK_EMULATOR_PROGRAM_SURVEY_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ptx/syntax.h"

namespace kernpack::emulator {

struct Survey {
  std::vector<std::string> kernels;
  std::map<std::string, uint64_t> instructions;  // how often each is written
  struct Refusal {
    std::string kernel, why;
  };
  std::map<uint32_t, Refusal> refused;  // by line of the PTX
};

Survey SurveyModule(const Module& module);

}  // namespace kernpack::emulator

#endif  // KERNPACK_SDK_EMULATOR_PROGRAM_SURVEY_H_
