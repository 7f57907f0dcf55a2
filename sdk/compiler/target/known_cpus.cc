#include "target/known_cpus.h"

#include <kernpack/error.h>
#include "shared/suggest.h"

#include "shared/target/cpu_table.h"
#include "shared/target/target_match.h"
#include "target/host.h"

namespace kernpack {
namespace host {

std::span<const CpuArch* const> CpuArchs() {
  static constexpr const CpuArch* kKnown[] = {kHostCpuArchs[0], kHostCpuArchs[1], &kArmCpu, &kRiscv64Cpu};
  return kKnown;
}

int32_t DeviceTypeNamed(std::string_view name) {
  KpDLDevice device{};
  if (sdk::TargetApi().device_from_name(Bytes(name), &device) == 0) return device.device_type;
  sdk::HostValue error;
  sdk::Host()->take_error(sdk::Host(), error.out());
  return 0;
}

std::string DeviceTypeText(int32_t device_type) { return sdk::DeviceTypeName(device_type); }

}  // namespace host

namespace sdk {
namespace {

using Entries = std::span<const host::CpuEntry>;

std::vector<std::string_view> GetNames(Entries entries) {
  std::vector<std::string_view> names;
  for (const host::CpuEntry& entry : entries) names.push_back(entry.name);
  return names;
}

// The end of the message about an unknown name: the known names.
std::string Advice(const host::UnknownCpuName& unknown) {
  std::vector<std::string_view> names;
  for (const host::CpuArch* arch : host::CpuArchs()) {
    if (unknown.arch && unknown.arch != arch) continue;
    const std::vector<std::string_view> more = GetNames(unknown.is_feature ? arch->features : arch->models);
    names.insert(names.end(), more.begin(), more.end());
  }
  std::string text = unknown.arch ? " among those of " + std::string(unknown.arch->name) : "";
  text += host::Suggest(unknown.name, names) + "; it knows:";
  for (std::string_view known : names) text.append(" ").append(known);
  return text;
}

const host::CpuArch& ArchNamed(std::string_view architecture) {
  if (const host::CpuArch* arch = host::FindCpuArch(architecture)) return *arch;
  std::string known;
  for (const host::CpuArch* each : host::CpuArchs()) known.append(known.empty() ? "" : ", ").append(each->name);
  KP_THROW(ValueError) << "processor architecture '" << architecture.substr(0, 200)
                       << "' is not known; known: " << known;
}

}  // namespace

host::CpuSpec FindCpu(std::string_view triple, std::string_view cpu, const std::vector<std::string_view>& attributes) {
  host::CpuSpec spec;
  host::UnknownCpuName unknown;
  const std::string problem = host::ReadCpuSpec(triple, cpu, attributes, &spec, &unknown);
  if (!problem.empty()) KP_THROW(ValueError) << problem << (unknown.name.empty() ? "" : Advice(unknown));
  return spec;
}

std::vector<std::string_view> CpuModels(std::string_view architecture) {
  return GetNames(ArchNamed(architecture).models);
}

std::vector<std::string_view> CpuFeatureNames(std::string_view architecture) {
  return GetNames(ArchNamed(architecture).features);
}

}  // namespace sdk
}  // namespace kernpack
