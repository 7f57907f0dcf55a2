#include "target/cpu_spec.h"

#include <algorithm>

#include "shared/suggest.h"

#include "target/cpu_table.h"

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

std::vector<std::string_view> NamesOf(std::span<const CpuEntry> entries) {
  std::vector<std::string_view> names;
  for (const CpuEntry& entry : entries) names.push_back(entry.name);
  return names;
}

std::string Unknown(const char* what, std::string_view name) {
  return std::string(what) + " " + std::string(name.substr(0, 100)) + " is not known to this version";
}

// Behind Unknown.
std::string Advice(std::string_view name, std::span<const CpuEntry> entries) {
  const std::vector<std::string_view> names = NamesOf(entries);
  std::string text = Suggest(name, names) + "; it knows:";
  for (std::string_view known : names) text.append(" ").append(known);
  return text;
}

std::string UnknownModel(const CpuArch* arch, std::string_view cpu, bool advise) {
  std::string text = Unknown("processor", cpu);
  if (!advise) return text;
  if (arch) return text + " among those of " + std::string(arch->name) + Advice(cpu, arch->models);
  std::vector<CpuEntry> all;
  for (const CpuArch* each : CpuArchs()) all.insert(all.end(), each->models.begin(), each->models.end());
  return text + Advice(cpu, all);
}

}  // namespace

std::string ReadCpuSpec(std::string_view triple, std::string_view cpu, const std::vector<std::string_view>& attributes,
                        bool advise, CpuSpec* out) {
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
    if (!out->arch) return UnknownModel(nullptr, cpu, advise);
  } else if (!changes.empty()) {
    out->arch = ArchOfChanges(changes);
  } else {
    return "";
  }
  if (!cpu.empty()) {
    const CpuEntry* model = out->arch->FindModel(cpu);
    if (!model) return UnknownModel(out->arch, cpu, advise);
    out->features = model->has;
  }
  CpuFeatures needed;
  for (const Change& change : changes) {
    const CpuEntry* feature = out->arch->FindFeature(change.feature);
    if (!feature) {
      std::string text = Unknown("processor feature", change.feature);
      if (!advise) return text;
      return text + " among those of " + std::string(out->arch->name) + Advice(change.feature, out->arch->features);
    }
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

}  // namespace kernpack::host
