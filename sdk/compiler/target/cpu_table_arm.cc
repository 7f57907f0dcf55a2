// Arm microcontrollers, with the floating-point unit they come with at most, as LLVM 19 names them.
#include "target/known_cpus.h"

#include "shared/target/cpu_table.h"

namespace kernpack::host {
namespace {

constexpr CpuRow kSmallFeatures[] = {
    {"thumb2", ""},       {"hwdiv", ""},  {"dsp", "thumb2"},          {"vfp4", ""},
    {"fp-armv8", "vfp4"}, {"mve", "dsp"}, {"mve.fp", "mve fp-armv8"}, {"lob", ""},
    {"pacbti", ""},
};
constexpr CpuRow kSmallModels[] = {
    {"cortex-m0", ""},
    {"cortex-m0plus", ""},
    {"cortex-m23", "hwdiv"},
    {"cortex-m3", "thumb2 hwdiv"},
    {"cortex-m4", "thumb2 hwdiv dsp vfp4"},
    {"cortex-m7", "thumb2 hwdiv dsp fp-armv8"},
    {"cortex-m33", "thumb2 hwdiv dsp fp-armv8"},
    {"cortex-m35p", "thumb2 hwdiv dsp fp-armv8"},
    {"cortex-m55", "thumb2 hwdiv mve.fp lob"},
    {"cortex-m85", "thumb2 hwdiv mve.fp lob pacbti"},
};
constexpr auto kSmallTable = MakeCpuTable(kSmallFeatures, kSmallModels);

}  // namespace

constinit const CpuArch kArmCpu = kSmallTable.View("arm");

}  // namespace kernpack::host
