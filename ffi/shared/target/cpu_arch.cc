#include "shared/target/cpu_arch.h"

#include <algorithm>

#include "shared/target/cpu_table.h"

namespace kernpack::host {
namespace {

const CpuEntry* Find(std::span<const CpuEntry> entries, std::string_view name) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const CpuEntry& e) { return e.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

const CpuEntry* CpuArch::FindFeature(std::string_view feature) const { return Find(features, feature); }
const CpuEntry* CpuArch::FindModel(std::string_view model) const { return Find(models, model); }

std::string CpuArch::Names(const CpuFeatures& set) const {
  std::string out;
  for (size_t i = 0; i < features.size(); ++i) {
    if (set.Has(i)) out.append(out.empty() ? "" : " ").append(features[i].name);
  }
  return out;
}

const CpuArch* FindCpuArch(std::string_view name) {
  for (const CpuArch* arch : CpuArchs()) {
    if (arch->name == name) return arch;
  }
  return nullptr;
}

const CpuArch* CpuArchOfTriple(std::string_view triple) {
  const std::string_view machine = triple.substr(0, triple.find('-'));
  if (machine == "amd64") return &kX86Cpu;
  if (machine == "arm64") return &kArm64Cpu;
  if (const CpuArch* arch = FindCpuArch(machine)) return arch;
  const bool small = machine.starts_with("armv") || machine.starts_with("thumb");
  return small ? FindCpuArch("arm") : nullptr;
}

const CpuArch* CpuArchOfModel(std::string_view model) {
  for (const CpuArch* arch : CpuArchs()) {
    if (arch->FindModel(model)) return arch;
  }
  return nullptr;
}

}  // namespace kernpack::host
