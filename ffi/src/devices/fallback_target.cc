// Which targets a device runs, where its backend leaves that to its list of kinds and its architecture.
#include <string>
#include <string_view>

#include <kernpack/host/device.h>
#include "shared/target_text.h"

#include "shared/bytes.h"
#include "base/guard.h"
#include "devices/forward.h"
#include "values/object/object.h"

namespace kernpack::host::fallback {
namespace {

constexpr int kAnyDevice = 1;
constexpr int kThisArch = 2;

bool IsKind(const KpBackend& backend, std::string_view kind) {
  if (kind == backend.name) return true;
  for (const char* const* known = backend.target_kinds; known != nullptr && *known != nullptr; ++known) {
    if (kind == *known) return true;
  }
  return false;
}

int Say(KpAny* reason, const std::string& text) { return kp_string_new(Bytes(text), reason); }

}  // namespace

int match_target(const KpDeviceApi* api, KpDLDevice device, KpBytes target, int32_t* rank, KpAny* reason) noexcept {
  return Guard("match_target", [&] {
    const KpBackend& backend = *Forwarding(api).backend;
    *rank = -1;
    TargetWords words;
    if (const std::string wrong = ReadTargetWords(View(target), &words); !wrong.empty()) return Say(reason, wrong);
    if (!IsKind(backend, words.kind)) {
      return Say(reason, "devices of type " + std::string(backend.name) + " do not run code of kind " +
                             std::string(words.kind));
    }
    int matched = kAnyDevice;
    for (const TargetOption& option : words.options) {
      if (option.name != "arch") {
        return Say(reason, "option -" + std::string(option.name) + " is not known to this version");
      }
      OwnedAny arch;
      if (api->get_property(api, device, kp_bytes("arch"), arch.out()) != 0) return -1;
      KpBytes name{};
      if (!kp_any_str(&arch.get(), &name)) return Say(reason, "the device does not tell its architecture");
      if (View(name) != Unquote(option.raw)) return Say(reason, "the device is " + std::string(View(name)));
      matched = kThisArch;
    }
    *rank = matched;
    return Say(reason,
               matched == kThisArch ? "the device is of that architecture" : "any " + std::string(backend.name));
  });
}

}  // namespace kernpack::host::fallback
