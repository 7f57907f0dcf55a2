#include "target/builtin.h"

#include <kernpack/error.h>

#include <algorithm>
#include <set>

#include "shared/target/cpu_table.h"
#include "target/known_cpus.h"

namespace kernpack::sdk {
namespace {

std::string GetText(const TargetSpec& spec, std::string_view name) {
  const auto found = spec.attrs.find(name);
  return found == spec.attrs.end() ? std::string() : *found->second.If<std::string>();
}

// mattr as "+aes,-fma", sorted; and so in the spec.
std::string SortChanges(TargetSpec& spec) {
  const auto found = spec.attrs.find("mattr");
  if (found == spec.attrs.end()) return "";
  std::set<std::string> changes;
  for (const AttrValue& item : *found->second.If<AttrArray>()) {
    const std::string& change = *item.If<std::string>();
    const bool sign = change.starts_with('+') || change.starts_with('-');
    if (change.size() == (sign ? 1U : 0U) || change.find_first_of(", \t\r\n") != std::string::npos) {
      KP_THROW(ValueError) << "option 'mattr': expected names of processor features such as +aes, got '" << change
                           << "'";
    }
    changes.insert(sign ? change : "+" + change);
  }
  if (changes.empty()) {
    spec.attrs.erase(found);
    return "";
  }
  found->second = AttrArray(changes.begin(), changes.end());
  std::string text;
  for (const std::string& change : changes) text += (text.empty() ? "" : ",") + change;
  return text;
}

int64_t VectorWidth(const AttrMap& features) {
  constexpr struct {
    std::string_view feature;
    int64_t bits;
  } kWidths[] = {
      {"avx512f", 512}, {"avx", 256},     {"sse2", 128},    {"neon", 128},  {"mve", 128},   {"zvl1024b", 1024},
      {"zvl512b", 512}, {"zvl256b", 256}, {"zvl128b", 128}, {"zvl64b", 64}, {"zvl32b", 32},
  };
  for (const auto& [feature, bits] : kWidths) {
    if (features.contains(feature)) return bits;
  }
  return 0;
}

}  // namespace

void ParseProcessor(TargetSpec& spec) {
  const std::string triple = GetText(spec, "mtriple");
  const std::string cpu = GetText(spec, "mcpu");
  const std::string changes = SortChanges(spec);
  if (cpu == "native") {
    KP_THROW(ValueError)
        << "option 'mcpu': native would mean another processor on each machine; Target.from_device(\"cpu\") names "
           "this one";
  }
  if (triple.empty() && cpu.empty() && changes.empty()) return;
  std::vector<std::string_view> list;
  if (!changes.empty()) host::SplitQuoted(changes, ",", &list);
  const host::CpuSpec processor = FindCpu(triple, cpu, list);
  if (!processor.arch) return;
  const std::string arch(processor.arch->name);
  spec.features.insert_or_assign("arch", arch);
  for (size_t i = 0; i < processor.arch->features.size(); ++i) {
    if (processor.features.Has(i)) spec.features.insert_or_assign(std::string(processor.arch->features[i].name), true);
  }
  if (const int64_t width = VectorWidth(spec.features)) spec.features.insert_or_assign("vector_width", width);
  const bool arm = arch == "arm" || arch == "aarch64";
  if (arm && std::find(spec.keys.begin(), spec.keys.end(), "arm_cpu") == spec.keys.end()) {
    spec.keys.insert(spec.keys.begin(), "arm_cpu");
  }
}

}  // namespace kernpack::sdk
