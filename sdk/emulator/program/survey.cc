#include "program/survey.h"

#include "program/program.h"

namespace kernpack::emulator {

Survey SurveyModule(const Module& module) {
  Survey out;
  const auto find = [](const std::string&, uint64_t* address) {
    *address = 0;  // of a variable: where it lies doesn't matter here
    return true;
  };
  for (const Function& function : module.functions) {
    for (const Statement& statement : function.body) ++out.instructions[statement.op];
    if (!function.entry || !function.defined) continue;
    out.kernels.push_back(function.name);
    std::vector<PtxError> refusals;
    try {
      Decode(module, function, find, &refusals);
    } catch (const PtxError& error) {  // of the kernel as a whole
      refusals.push_back(error);
    }
    for (const PtxError& error : refusals)
      out.refused.emplace(error.line, Survey::Refusal{function.name, error.what()});
  }
  return out;
}

}  // namespace kernpack::emulator
