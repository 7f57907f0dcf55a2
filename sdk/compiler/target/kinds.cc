// The kinds that come with the SDK, small ones here.
#include "target/builtin.h"

#include <kernpack/sdk/target.h>

namespace kernpack::sdk {
namespace {

// Devices of targets, each a target of its own.
void RegisterComposite() {
  TargetKindBuilder("composite", KP_DEVICE_CPU)
      .add_attr_option<std::vector<Target>>("devices", {.doc = "what the parts of a program are compiled for"})
      .Register();
}

// For tests of everything that takes a target: an option of every type, and a parser.
void RegisterTest() {
  TargetKindBuilder("test", KP_DEVICE_CPU)
      .set_default_keys({"test"})
      .add_attr_option<bool>("flag")
      .add_attr_option<int64_t>("count", {.default_value = 7, .doc = "any integer"})
      .add_attr_option<double>("ratio", {.default_value = 0.5, .doc = "any finite number"})
      .add_attr_option<std::string>("name")
      .add_attr_option<std::vector<std::string>>("names")
      .add_attr_option<std::vector<std::vector<std::string>>>("table")
      .add_attr_option<std::vector<int64_t>>("sizes")
      .add_attr_option<std::map<std::string, int64_t>>("weights")
      .add_attr_option<Target>("partner")
      .set_attr<bool>("for_tests", true)
      .set_target_parser([](TargetSpec& spec) { spec.features.insert_or_assign("is_test", true); })
      .Register();
}

}  // namespace

void RegisterBuiltInKinds() {
  RegisterCpuKinds();
  RegisterGpuKinds();
  RegisterComposite();
  RegisterTest();
}

}  // namespace kernpack::sdk
