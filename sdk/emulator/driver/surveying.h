// What an image has, as JSON, for people who want to know whether the emulated device runs it.
#ifndef KERNPACK_SDK_EMULATOR_DRIVER_SURVEYING_H_
#define KERNPACK_SDK_EMULATOR_DRIVER_SURVEYING_H_

#include <string>

namespace kernpack::cuda {

// As control.h's kernpack_emulator_survey says.
std::string SurveyText(const void* image, long arch);

}  // namespace kernpack::cuda

#endif  // KERNPACK_SDK_EMULATOR_DRIVER_SURVEYING_H_
