
#include <nlohmann/json.hpp>

#include "driver/image.h"
#include "program/survey.h"

namespace kernpack::cuda {
namespace {

using nlohmann::json;

json Surveyed(const void* image, long arch) {
  std::string ptx, log;
  if (ExtractPtx(image, static_cast<int>(arch), &ptx, &log) != kSuccess) return {{"error", log}};
  try {
    const emulator::Module module = emulator::Parse(ptx);
    const emulator::Survey survey = emulator::SurveyModule(module);
    json refused = json::array();
    for (const auto& [line, refusal] : survey.refused)
      refused.push_back({{"line", line}, {"kernel", refusal.kernel}, {"why", refusal.why}});
    return {{"ptx", std::to_string(module.version / 10) + "." + std::to_string(module.version % 10)},
            {"target", module.target},
            {"kernels", survey.kernels},
            {"instructions", survey.instructions},
            {"refused", std::move(refused)}};
  } catch (const emulator::PtxError& error) {
    return {{"error", error.what()}};
  }
}

}  // namespace

std::string SurveyText(const void* image, long arch) {
  return Surveyed(image, arch).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace kernpack::cuda
