// Tags: names of real devices and what to compile for them.
//
//   KP_REGISTER_TARGET_TAG("acme/npu-4", "npu -cores=4 -host='llvm -mcpu=cortex-a72'")
#ifndef KERNPACK_SDK_TARGET_TAG_H_
#define KERNPACK_SDK_TARGET_TAG_H_

#include <kernpack/sdk/target_value.h>

namespace kernpack::sdk {

// A tag is only parsed when a target uses it; listing tags parses nothing. A tag may refer to another tag. Any thread.
class TargetTag {
 public:
  static bool Exists(std::string_view name);
  static std::vector<std::string> List();  // sorted
  // The definition of a tag as registered, in any form that Target accepts. nullopt for an unknown tag.
  static std::optional<std::string> Get(std::string_view name);
  // ValueError for a name that is a kind's, that is registered already (unless `replace`), or that is invalid on a command
  // line.
  static void Add(std::string name, std::string definition, bool replace = false);
  static void Add(std::string name, const AttrMap& config, bool replace = false);
};

struct TargetTagRegistration {
  TargetTagRegistration(const char* name, const char* definition) { TargetTag::Add(name, std::string(definition)); }
};

}  // namespace kernpack::sdk

#define KP_SDK_TAG_CONCAT_(a, b) a##b
#define KP_SDK_TAG_UNIQUE_(prefix, counter) KP_SDK_TAG_CONCAT_(prefix, counter)
// At namespace scope.
#define KP_REGISTER_TARGET_TAG(name, definition)                                           \
  [[maybe_unused]] static const ::kernpack::sdk::TargetTagRegistration KP_SDK_TAG_UNIQUE_( \
      kp_target_tag_, __COUNTER__)(name, definition);

#endif  // KERNPACK_SDK_TARGET_TAG_H_
