#include "shared/target/target_match.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "shared/cuda_arch.h"
#include "shared/target_kinds.h"
#include "shared/target_text.h"

namespace kernpack::host {
namespace {

constexpr int kLeast = 1;  // of any target; a baseline, which names none, is 0

TargetMatch No(std::string reason) { return Unmatched(std::move(reason)); }
TargetMatch NotKnown(std::string_view option) {
  return No("option -" + std::string(option) + " is not known to this version");
}

// The device type that code of this kind runs on; 0: unknown kind.
int32_t DeviceTypeOfKind(std::string_view kind) {
  if (IsCpuKind(kind)) return KP_DEVICE_CPU;
  return kind == "cpu" ? 0 : DeviceTypeNamed(kind);
}

// The requirement of an option of code on a machine.
enum class Rule {
  kSilent,  // nothing: it shaped the code, or says where it came from
  kAtMost,  // no more than the machine has
  kEqual,
  kOwn,  // has a rule of its own
};

struct OptionRule {
  std::string_view name;
  Rule rule;
  std::string_view limit = {};  // what the machine calls it, where it says that too
};

constexpr OptionRule kCommonRules[] = {
    {"device", Rule::kSilent}, {"from_device", Rule::kSilent},
    {"host", Rule::kSilent},   {"keys", Rule::kSilent},
    {"libs", Rule::kSilent},   {"model", Rule::kSilent},
    {"tag", Rule::kSilent},    {"target_device_type", Rule::kSilent},
};
constexpr OptionRule kCpuRules[] = {
    {"mtriple", Rule::kOwn},         {"mcpu", Rule::kOwn},         {"mattr", Rule::kOwn},
    {"mabi", Rule::kEqual},          {"mfloat-abi", Rule::kEqual}, {"num-cores", Rule::kSilent},
    {"vector-width", Rule::kSilent}, {"opt-level", Rule::kSilent}, {"jit", Rule::kSilent},
    {"cl-opt", Rule::kSilent},
};
constexpr OptionRule kGpuRules[] = {
    {"arch", Rule::kOwn},
    {"max_num_threads", Rule::kAtMost, "max_threads_per_block"},
    {"max_threads_per_block", Rule::kAtMost},
    {"max_shared_memory_per_block", Rule::kAtMost},
    {"max_function_args", Rule::kAtMost},
    {"thread_warp_size", Rule::kEqual},
    {"registers_per_block", Rule::kSilent},
    {"l2_cache_size_bytes", Rule::kSilent},
    {"fast-math-contract", Rule::kSilent},
};

template <size_t kCount>
const OptionRule* FindIn(const OptionRule (&rules)[kCount], std::string_view name) {
  const auto* found = std::find_if(rules, rules + kCount, [&](const OptionRule& rule) { return rule.name == name; });
  return found == rules + kCount ? nullptr : found;
}

std::optional<OptionRule> FindRule(std::string_view name, int32_t device_type) {
  if (name.starts_with("feature.")) return OptionRule{name, Rule::kSilent};
  if (const OptionRule* rule = FindIn(kCommonRules, name)) return *rule;
  if (device_type == KP_DEVICE_CPU) {
    if (name.starts_with("fast-math")) return OptionRule{name, Rule::kSilent};
    if (const OptionRule* rule = FindIn(kCpuRules, name)) return *rule;
    return std::nullopt;
  }
  if (device_type == KP_DEVICE_CUDA || device_type == KP_DEVICE_OPENCL) {
    if (const OptionRule* rule = FindIn(kGpuRules, name)) return *rule;
    return std::nullopt;
  }
  return OptionRule{name, Rule::kOwn};  // of a backend of its own: has to be what the machine says
}

std::optional<int64_t> Number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "" where the machine does not contradict.
std::string Contradiction(const TargetOption& option, const OptionRule& rule, const TargetWords& machine) {
  const TargetOption* has = rule.limit.empty() ? nullptr : machine.Find(rule.limit);
  if (!has) has = machine.Find(option.name);
  if (!has) return "";
  if (rule.rule == Rule::kEqual) {
    const std::string value = Unquote(has->raw);
    return value == Unquote(option.raw) ? "" : std::string(option.name) + " is " + value + " there";
  }
  const auto wanted = Number(Unquote(option.raw));
  const auto limit = Number(Unquote(has->raw));
  if (wanted && limit && *wanted <= *limit) return "";
  return std::string(has->name) + " is " + Unquote(has->raw) + " there";
}

// A GPU's architecture; of any other device, an option that both have to spell alike.
TargetMatch MatchOwn(const TargetOption& option, int32_t device_type, const TargetWords& machine) {
  const TargetOption* has = machine.Find(option.name);
  const std::string wanted = Unquote(option.raw);
  if (!has) {
    if (option.name != "arch") return NotKnown(option.name);
    return No("no device backend is loaded that could tell the device's architecture");
  }
  const std::string is = Unquote(has->raw);
  const std::string what = option.name == "arch" ? "the device is " + is : std::string(option.name) + " is " + is;
  if (device_type != KP_DEVICE_CUDA || option.name != "arch") {
    return wanted == is ? TargetMatch{kLeast + 1, what} : No(what);
  }
  const auto code = ReadCudaArch(wanted);
  if (!code) return No("architecture " + wanted + " is not known to this version");
  const auto device = ReadCudaArch(is);
  if (!device || !code->RunsOn(device->number)) return No(what);
  return {kLeast + code->Specificity(), what};
}

TargetMatch MatchSpecs(const CpuSpec& code, const CpuSpec& machine) {
  if (!code.foreign.empty()) {
    return code.foreign == machine.foreign ? TargetMatch{kLeast + 1, "the processor is " + code.foreign}
                                           : No("it is for " + code.foreign + " processors");
  }
  if (!code.arch) return {kLeast, "any cpu"};
  if (!machine.arch) return No("the machine's target says nothing about its processor");
  if (code.arch != machine.arch) return No("this processor is " + std::string(machine.arch->name));
  const CpuFeatures lacks = code.features.Without(machine.features);
  const std::string is = "this processor is " + NearestCpuLevel(machine);
  if (!lacks.Empty()) return No(is + " and lacks " + code.arch->Names(lacks));
  return {kLeast + code.features.Count(), is};
}

}  // namespace

TargetMatch Unmatched(std::string reason) { return {-1, std::move(reason)}; }

TargetMatch MatchWords(const TargetWords& code, const TargetWords& machine, const CpuSpec* processor) {
  const int32_t type = DeviceTypeOfKind(code.kind);
  if (type == 0) return No("target kind " + std::string(code.kind) + " is not known to this version");
  const int32_t machine_type = DeviceTypeOfKind(machine.kind);
  if (type != machine_type) return No("it is for " + DeviceTypeText(type));
  TargetMatch best{kLeast, "any " + DeviceTypeText(type)};
  for (const TargetOption& option : code.options) {
    const auto rule = FindRule(option.name, type);
    if (!rule) return NotKnown(option.name);
    if (rule->rule == Rule::kSilent || (rule->rule == Rule::kOwn && type == KP_DEVICE_CPU)) continue;
    if (rule->rule == Rule::kOwn) {
      TargetMatch match = MatchOwn(option, type, machine);
      if (match.rank < 0) return match;
      match.rank += best.rank - kLeast;
      best = std::move(match);
    } else if (std::string problem = Contradiction(option, *rule, machine); !problem.empty()) {
      return No(std::move(problem));
    }
  }
  if (type != KP_DEVICE_CPU) return best;
  CpuSpec wanted;
  if (std::string problem = ReadCpuSpec(code, &wanted); !problem.empty()) return No(std::move(problem));
  return MatchSpecs(wanted, *processor);
}

}  // namespace kernpack::host
