// The steps from what a user writes, or what a device says about itself, to a canonical target.
#ifndef KERNPACK_SDK_COMPILER_TARGET_CONSTRUCT_H_
#define KERNPACK_SDK_COMPILER_TARGET_CONSTRUCT_H_

#include <kernpack/sdk/target.h>

namespace kernpack::sdk {

// The prefix of a feature's key: "feature.avx2".
inline constexpr std::string_view kFeature = "feature.";

// How deep we are: targets within targets (hosts, elements of composite), and the tags being resolved.
struct Nesting {
  int depth = 0;
  std::vector<std::string> tags;
};

// Text of any form as a config, with the tag it came from if any.
AttrMap ConfigFromText(std::string_view text, Nesting& nesting);
// The config that a registered tag stands for; ValueError for an unknown one, and for one that leads back to itself.
AttrMap ConfigFromTag(std::string_view tag, Nesting& nesting);
// A config that names a tag and no kind, laid over what the tag stands for.
AttrMap ResolveTag(AttrMap config, Nesting& nesting);

Target BuildTarget(const AttrMap& config, const Nesting& nesting, const DeviceQuery& query = {});
// From a str, dict or Target; `what` names it in the TypeError.
Target BuildTarget(const AttrValue& value, const Nesting& nesting, std::string_view what);

// "kind -option=value ...", in the order of the names; without keys where there are none to say.
std::string CommandLine(const TargetKind& kind, const AttrMap& attrs,
                        const std::optional<std::vector<std::string>>& keys, const AttrMap& features,
                        const TargetNode* host);

// The facts of a device for Target::FromDevice; nothing else of the target language asks devices.
// Fills the options that the device answers for and `options` does not give. RuntimeError when there is no such device.
void AskDevice(const TargetKind& kind, int64_t device_id, const DeviceQuery& query, AttrMap* options);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_TARGET_CONSTRUCT_H_
