#include "devices/target/cpu_machine.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <kernpack/host/host.h>
#include "shared/target_kinds.h"

#include "shared/target/cpu_table.h"

namespace kernpack::host {
namespace {

// "" or what is wrong with the text of KERNPACK_TARGET.
std::string ReadOverride(const char* text, const CpuArch& own, CpuSpec* out) {
  TargetWords words;
  if (std::string problem = ReadTargetWords(text, &words); !problem.empty()) return problem;
  if (!IsCpuKind(words.kind)) return "it isn't a CPU target";
  if (std::string problem = ReadCpuSpec(words, out); !problem.empty()) return problem;
  if (!out->foreign.empty() || (out->arch && out->arch != &own)) {
    return "this processor is " + std::string(own.name);
  }
  return "";
}

}  // namespace

int MachineCpu(CpuSpec* out) {
  *out = DetectedCpu();
  const char* text = std::getenv("KERNPACK_TARGET");
  if (!text || !*text || !out->arch) return 0;
  CpuSpec wanted;
  const std::string problem = ReadOverride(text, *out->arch, &wanted);
  if (!problem.empty()) {
    return kp_raise("ValueError",
                    "KERNPACK_TARGET: expected a target for this processor, such as 'llvm -mcpu=x86-64-v2', got "
                    "'%.100s': %s; correct or unset it",
                    text, problem.c_str());
  }
  out->features = out->features & wanted.features;
  return 0;
}

std::string CpuTarget(const CpuSpec& cpu) {
  if (!cpu.arch) return kLlvmKind;
  const CpuEntry* level = NearestLevel(cpu);
  std::vector<std::string_view> more;
  for (size_t i = 0; i < cpu.arch->features.size(); ++i) {
    if (cpu.features.Has(i) && !(level && level->has.Has(i))) more.push_back(cpu.arch->features[i].name);
  }
  std::sort(more.begin(), more.end());
  std::string text = kLlvmKind;
  for (size_t i = 0; i < more.size(); ++i) text.append(i == 0 ? " -mattr=+" : ",+").append(more[i]);
  if (level) text.append(" -mcpu=").append(level->name);
  if (!level || level->name == "generic") text.append(" -mtriple=").append(cpu.arch->name).append("-linux-gnu");
  return text;
}

}  // namespace kernpack::host
