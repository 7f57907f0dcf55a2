// cuda and opencl.
#include <kernpack/sdk/target_kind.h>
#include "shared/target_kinds.h"

#include "target/builtin.h"

namespace kernpack::sdk {
namespace {

// sm_90: machine code; sm_90a, sm_100f: of that architecture, or family, alone; compute_90: portable PTX.
std::optional<std::string> CheckArch(const AttrValue& value) {
  const std::string text = value.As<std::string>().value_or("");
  std::string_view rest = text;
  for (std::string_view prefix : {"sm_", "compute_"}) {
    if (!rest.starts_with(prefix)) continue;
    rest.remove_prefix(prefix.size());
    if (rest.size() > 2 && (rest.back() == 'a' || rest.back() == 'f')) rest.remove_suffix(1);
    const bool digits = rest.size() >= 2 && rest.size() <= 4 &&
                        rest.find_first_not_of("0123456789") == std::string_view::npos && rest[0] != '0';
    if (digits) return std::nullopt;
    break;
  }
  return "must be sm_<version> or compute_<version>, such as sm_90, sm_90a or compute_80";
}

// "9.0" to "sm_90".
AttrValue ArchOfVersion(const AttrValue& version) {
  std::string text = version.As<std::string>().value_or("");
  if (text.starts_with("sm_")) return text;
  const size_t point = text.find('.');
  if (point == std::string::npos) return {};
  text.erase(point, 1);
  text.insert(0, "sm_");
  return CheckArch(text) ? AttrValue() : AttrValue(text);
}

OptionTraits Contraction() { return {.doc = "multiply and add may become one operation; they may without it"}; }

OptionTraits Limit(const char* doc, const char* device_attribute, AttrValue otherwise = {}) {
  return {.default_value = std::move(otherwise), .doc = doc, .validate = AtLeast(1), .from_device = device_attribute};
}

}  // namespace

void RegisterGpuKinds() {
  TargetKindBuilder(host::kCudaKind, KP_DEVICE_CUDA)
      .set_default_keys({"cuda", "gpu"})
      .add_attr_option<std::string>("arch",
                                    {.doc = "architecture that code is generated for; without it the usual ones",
                                     .validate = CheckArch,
                                     .from_device = "compute_version",
                                     .convert = ArchOfVersion})
      .add_attr_option<int64_t>("max_num_threads",
                                Limit("threads of a block that schedules use at most", "max_threads_per_block", 1024))
      .add_attr_option<int64_t>("max_threads_per_block", Limit("of the device", "max_threads_per_block"))
      .add_attr_option<int64_t>("thread_warp_size", Limit("threads in lock step", "warp_size", 32))
      .add_attr_option<int64_t>("max_shared_memory_per_block", Limit("bytes", "max_shared_memory_per_block"))
      .add_attr_option<int64_t>("registers_per_block", Limit("of 32 bits", "max_registers_per_block"))
      .add_attr_option<int64_t>("l2_cache_size_bytes", Limit("bytes", "l2_cache_size_bytes"))
      .add_attr_option<bool>("fast-math-contract", Contraction())
      .Register();
  TargetKindBuilder(host::kOpenClKind, KP_DEVICE_OPENCL)
      .set_default_keys({"opencl", "gpu"})
      .add_attr_option<int64_t>("max_num_threads", Limit("work items of a work-group that schedules use at most",
                                                         "max_threads_per_block", 256))
      .add_attr_option<int64_t>("max_threads_per_block", Limit("of the device", "max_threads_per_block", 256))
      .add_attr_option<int64_t>("max_shared_memory_per_block",
                                Limit("bytes of local memory", "max_shared_memory_per_block", 16384))
      .add_attr_option<int64_t>("thread_warp_size", Limit("work items in lock step", "warp_size", 1))
      .add_attr_option<int64_t>("max_function_args", Limit("arguments of a kernel", "", 128))
      .add_attr_option<bool>("fast-math-contract", Contraction())
      .Register();
}

}  // namespace kernpack::sdk
