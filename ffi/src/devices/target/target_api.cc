// The extension "kernpack.target".
#include "devices/target/match_device.h"

#include <kernpack/host/device.h>
#include "shared/target_text.h"

#include "shared/bytes.h"
#include "base/guard.h"
#include "devices/target/cpu_machine.h"

namespace kernpack::host {
namespace {

struct NamedAttr {
  std::string_view name;
  KpDeviceAttrKind kind;
};

constexpr NamedAttr kAttrs[] = {
    {"exist", KP_ATTR_EXIST},
    {"max_threads_per_block", KP_ATTR_MAX_THREADS_PER_BLOCK},
    {"warp_size", KP_ATTR_WARP_SIZE},
    {"max_shared_memory_per_block", KP_ATTR_MAX_SHARED_MEMORY_PER_BLOCK},
    {"compute_version", KP_ATTR_COMPUTE_VERSION},
    {"device_name", KP_ATTR_DEVICE_NAME},
    {"max_clock_rate", KP_ATTR_MAX_CLOCK_RATE},
    {"multi_processor_count", KP_ATTR_MULTI_PROCESSOR_COUNT},
    {"max_thread_dimensions", KP_ATTR_MAX_THREAD_DIMENSIONS},
    {"max_registers_per_block", KP_ATTR_MAX_REGISTERS_PER_BLOCK},
    {"gcn_arch", KP_ATTR_GCN_ARCH},
    {"api_version", KP_ATTR_API_VERSION},
    {"driver_version", KP_ATTR_DRIVER_VERSION},
    {"l2_cache_size_bytes", KP_ATTR_L2_CACHE_SIZE_BYTES},
    {"total_global_memory", KP_ATTR_TOTAL_GLOBAL_MEMORY},
    {"available_global_memory", KP_ATTR_AVAILABLE_GLOBAL_MEMORY},
    {"image_pitch_alignment", KP_ATTR_IMAGE_PITCH_ALIGNMENT},
};
static_assert(std::size(kAttrs) == KP_DEVICE_ATTR_COUNT);

// The processor as a target, and what that says for the option; *out stays NONE where it says nothing. Without matrix tiles: no
// generator uses them, and Linux may refuse them.
int ProcessorFact(std::string_view option, KpAny* out) {
  CpuSpec cpu;
  if (MachineCpu(&cpu) != 0) return -1;
  const std::string text = CpuTarget(WithoutTiles(cpu));
  TargetWords words;
  ReadTargetWords(text, &words);
  const TargetOption* found = words.Find(option);
  return found ? kp_string_new(Bytes(found->raw), out) : 0;
}

int DeviceFact(KpDLDevice device, KpBytes name, KpAny* out) {
  return Guard("kernpack.target.device_fact", [&] {
    *out = kp_none();
    const std::string_view wanted = View(name);
    for (const NamedAttr& attr : kAttrs) {
      if (attr.name == wanted) return kp_device_get_attr(device, attr.kind, out);
    }
    const bool processor = wanted == "mcpu" || wanted == "mattr" || wanted == "mtriple";
    if (device.device_type == KP_DEVICE_CPU && processor) return ProcessorFact(wanted, out);
    return kp_device_get_property(device, name, out);
  });
}

}  // namespace

const KpTargetApi kTargetApi = {
    sizeof(KpTargetApi),
    &kp_device_from_name,
    &kp_device_type_name,
    &DeviceFact,
};

}  // namespace kernpack::host
