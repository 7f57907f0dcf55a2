#include "shared/target/cpu_spec.h"

#include <algorithm>

#include "shared/target/cpu_table.h"

namespace kernpack::host {
namespace {

struct Change {
  bool plus;
  std::string_view feature;
};

Change ReadChange(std::string_view attribute) {
  const bool sign = attribute.starts_with('+') || attribute.starts_with('-');
  return {!attribute.starts_with('-'), attribute.substr(sign ? 1 : 0)};
}

const CpuArch* ArchOfChanges(const std::vector<Change>& changes) {
  for (const CpuArch* arch : CpuArchs()) {
    const auto known = [&](const Change& change) { return arch->FindFeature(change.feature) != nullptr; };
    if (std::all_of(changes.begin(), changes.end(), known)) return arch;
  }
  return CpuArchs().front();  // which then says what it does not know
}

std::string Unknown(const UnknownCpuName& what, UnknownCpuName* out) {
  if (out) *out = what;
  return std::string(what.is_feature ? "processor feature" : "processor") + " " +
         std::string(what.name.substr(0, 100)) + " is not known to this version";
}

}  // namespace

std::string ReadCpuSpec(std::string_view triple, std::string_view cpu, const std::vector<std::string_view>& attributes,
                        CpuSpec* out, UnknownCpuName* unknown) {
  std::vector<Change> changes;
  changes.reserve(attributes.size());
  for (std::string_view attribute : attributes) changes.push_back(ReadChange(attribute));
  *out = CpuSpec{};
  if (!triple.empty()) {
    out->arch = CpuArchOfTriple(triple);
    if (!out->arch) {
      out->foreign = triple.substr(0, triple.find('-'));
      return "";
    }
  } else if (!cpu.empty()) {
    out->arch = CpuArchOfModel(cpu);
    if (!out->arch) return Unknown({cpu, false, nullptr}, unknown);
  } else if (!changes.empty()) {
    out->arch = ArchOfChanges(changes);
  } else {
    return "";
  }
  if (!cpu.empty()) {
    const CpuEntry* model = out->arch->FindModel(cpu);
    if (!model) return Unknown({cpu, false, out->arch}, unknown);
    out->features = model->has;
  }
  CpuFeatures needed;
  for (const Change& change : changes) {
    const CpuEntry* feature = out->arch->FindFeature(change.feature);
    if (!feature) return Unknown({change.feature, true, out->arch}, unknown);
    if (!change.plus) continue;
    out->features |= feature->has;
    needed |= feature->needs;
  }
  for (const Change& change : changes) {
    if (change.plus) continue;
    const auto place = static_cast<size_t>(out->arch->FindFeature(change.feature) - out->arch->features.data());
    if (needed.Has(place)) {
      return "feature " + std::string(change.feature) + " is removed with -, but a feature added with + needs it";
    }
    CpuFeatures without;
    for (size_t i = 0; i < out->arch->features.size(); ++i) {
      if (out->arch->features[i].needs.Has(place)) without.Add(i);
    }
    out->features = out->features.Without(without);
  }
  return "";
}

std::string ReadCpuSpec(const TargetWords& target, CpuSpec* out) {
  std::string triple;
  std::string cpu;
  std::string attributes;
  std::vector<std::string_view> list;
  for (const TargetOption& option : target.options) {
    if (option.name == "mtriple") triple = Unquote(option.raw);
    if (option.name == "mcpu") cpu = Unquote(option.raw);
    if (option.name == "mattr" && option.raw != "[]") attributes = Unquote(option.raw);  // no feature has a comma
  }
  if (!attributes.empty()) {
    if (const char* wrong = SplitQuoted(attributes, ",", &list)) return wrong;
  }
  return ReadCpuSpec(triple, cpu, list, out);
}

const CpuEntry* NearestLevel(const CpuSpec& cpu) {
  for (const char* level : {"x86-64-v4", "x86-64-v3", "x86-64-v2", "x86-64", "generic"}) {
    const CpuEntry* model = cpu.arch->FindModel(level);
    if (model && cpu.features.Contains(model->has)) return model;
  }
  return nullptr;
}

std::string NearestCpuLevel(const CpuSpec& cpu) {
  const CpuEntry* level = NearestLevel(cpu);
  return std::string(level && level->name != "generic" ? level->name : cpu.arch->name);
}

}  // namespace kernpack::host
