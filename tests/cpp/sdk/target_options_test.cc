// Options, keys, features, hosts, tags, scopes: what a kind declares and what a target makes of it.
#include <kernpack/sdk/target.h>
#include <kernpack/sdk/target_tag.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "support.h"

namespace kernpack::sdk {
namespace {

using Strings = std::vector<std::string>;

KP_REGISTER_TARGET_KIND(options_test, KP_DEVICE_CPU)
    .set_default_keys({"cpu"})
    .set_attr<std::string>("hi", "there")
    .add_attr_option<std::string>("mcpu")
    .add_attr_option<bool>("subgroups", {.default_value = false})
    .add_attr_option<int64_t>("warp", {.default_value = 1, .validate = AtLeast(1)})
    .set_target_parser([](TargetSpec& spec) {
      const bool subgroups = *spec.attrs.at("subgroups").As<bool>();
      const int64_t warp = *spec.attrs.at("warp").As<int64_t>();
      if (warp > 1 && !subgroups) KP_THROW(ValueError) << "warp above 1 needs subgroups";
      if (subgroups && warp == 1) spec.attrs.insert_or_assign("warp", 32);
      spec.keys = {"replaced", "cpu"};
      spec.features.insert_or_assign("fast", subgroups);
    });

KP_REGISTER_TARGET_KIND(grower, KP_DEVICE_CPU)
    .add_attr_option<std::string>("mcpu")
    .set_target_parser([](TargetSpec& spec) {
      const auto found = spec.attrs.find("mcpu");
      if (found != spec.attrs.end()) found->second = "super_" + *found->second.As<std::string>();
    });

KP_REGISTER_TARGET_TAG("options-test/base", "options_test -mcpu=one -subgroups=true")
KP_REGISTER_TARGET_TAG("options-test/derived", "options-test/base -mcpu=two")
KP_REGISTER_TARGET_TAG("options-test/loop", "options_test -host=options-test/loop2")
KP_REGISTER_TARGET_TAG("options-test/loop2", "options_test -host=options-test/loop")

TEST(TargetKind, FactsAreFoundAndKindsAreListedOnce) {
  EXPECT_EQ(TargetKind::Get("options_test").GetAttr<std::string>("hi"), "there");
  EXPECT_FALSE(TargetKind::Get("options_test").GetAttr<std::string>("ho"));
  const Strings kinds = TargetKind::List();
  for (const char* kind : {"c", "composite", "cuda", "llvm", "opencl", "test"}) {
    EXPECT_EQ(std::count(kinds.begin(), kinds.end(), kind), 1) << kind;
  }
  EXPECT_EQ(TargetKind::Get("llvm").FindOption("mattr")->type.Name(), "list[str]");
  EXPECT_EQ(TargetKind::Get("test").FindOption("table")->type.Name(), "list[list[str]]");
  EXPECT_EQ(TargetKind::Get("test").FindOption("weights")->type.Name(), "dict[str, int]");
}

TEST(TargetKind, RegistrationIsChecked) {
  EXPECT_ERROR(TargetKindBuilder("llvm", KP_DEVICE_CPU).Register(), "ValueError", "'llvm' is registered already");
  EXPECT_ERROR(TargetKindBuilder("Bad name", KP_DEVICE_CPU).Register(), "ValueError", "lower-case letters");
  EXPECT_ERROR(TargetKindBuilder("x", KP_DEVICE_CPU).add_attr_option<int64_t>("n").add_attr_option<int64_t>("n"),
               "ValueError", "option 'n' of target kind 'x' is declared twice");
  EXPECT_ERROR(TargetKindBuilder("x", KP_DEVICE_CPU).add_attr_option<int64_t>("n", {.default_value = "1"}), "TypeError",
               "expected int, got str");
  EXPECT_ERROR(
      TargetKindBuilder("x", KP_DEVICE_CPU).add_attr_option<int64_t>("n", {.default_value = 0, .validate = AtLeast(1)}),
      "ValueError", "must be at least 1");
}

TEST(TargetOptions, ParserSeesDefaultsAndIsLast) {
  const Target plain("options_test");
  EXPECT_EQ(plain.keys(), (Strings{"replaced", "cpu"}));
  EXPECT_EQ(plain.str(), "options_test");
  const Target wide("options_test -subgroups=true");
  EXPECT_EQ(wide.GetAttr<int64_t>("warp"), 32);
  EXPECT_TRUE(wide.HasFeature("fast"));
  EXPECT_FALSE(plain.HasFeature("fast"));
  EXPECT_EQ(Target(wide.str()), wide);
  EXPECT_ERROR(Target("options_test -warp=8"), "ValueError", "warp above 1 needs subgroups");
}

TEST(TargetOptions, AParserThatChangesItsOwnOutputIsFound) {
  EXPECT_ERROR(Target("grower -mcpu=woof"), "InternalError", "parser of target kind 'grower' is not idempotent");
  EXPECT_EQ(Target("grower").str(), "grower");
}

TEST(TargetOptions, EveryTypeComesBack) {
  const Target t(AttrMap{{"kind", "test"},
                         {"flag", 1},
                         {"ratio", 2},
                         {"names", AttrArray{"a b", "c,d", "it's", "", "[]"}},
                         {"table", AttrArray{AttrArray{"x", "y,z"}, AttrArray{}, AttrArray{""}}},
                         {"sizes", AttrArray{1, -2}},
                         {"weights", AttrMap{{"one", 1}, {"two words", 2}}},
                         {"partner", "cuda -arch=sm_90"}});
  EXPECT_EQ(t.GetAttr<bool>("flag"), true);
  EXPECT_EQ(t.GetAttr<double>("ratio"), 2.0);
  EXPECT_EQ(t.GetAttr<int64_t>("count"), 7);
  EXPECT_EQ(t.GetAttr<Strings>("names"), (Strings{"a b", "c,d", "it's", "", "[]"}));
  EXPECT_EQ(t.GetAttr<std::vector<Strings>>("table"), (std::vector<Strings>{{"x", "y,z"}, {}, {""}}));
  EXPECT_EQ((t.GetAttr<std::map<std::string, int64_t>>("weights")->at("two words")), 2);
  EXPECT_EQ(t.GetAttr<Target>("partner"), Target("cuda -arch=sm_90"));
  EXPECT_EQ(t.GetAttr<std::string>("name", "none"), "none");
  EXPECT_ERROR(t.GetAttr<std::string>("count"), "TypeError", "target attribute 'count' is int, not str");
  EXPECT_EQ(Target(t.str()), t) << t.str();
  EXPECT_EQ(Target(t.str()).str(), t.str());
  EXPECT_EQ(Target(t.ToJson()), t);
}

TEST(TargetOptions, CoercionIsNarrow) {
  EXPECT_ERROR(Target(AttrMap{{"kind", "test"}, {"flag", "true"}}), "TypeError", "expected bool, got str");
  EXPECT_ERROR(Target(AttrMap{{"kind", "test"}, {"flag", 2}}), "TypeError", "expected bool, got int");
  EXPECT_ERROR(Target(AttrMap{{"kind", "test"}, {"count", true}}), "TypeError", "expected int, got bool");
  EXPECT_ERROR(Target(AttrMap{{"kind", "test"}, {"ratio", 1e300 * 1e300}}), "ValueError", "finite");
  EXPECT_ERROR(Target(AttrMap{{"kind", "test"}, {"sizes", AttrArray{1, "2"}}}), "TypeError", "[1]: expected int");
  EXPECT_ERROR(Target(AttrMap{{"kind", "cuda"}, {"libs", AttrMap{{"a", 1}}}}), "TypeError", "expected list[str]");
  EXPECT_ERROR(Target(R"({"kind": "test", "count": 9223372036854775808})"), "ValueError", "does not fit 64 bits");
  EXPECT_ERROR(Target(R"({"kind": "test", "kind": "c"})"), "ValueError", "the key 'kind' is given twice");
  EXPECT_ERROR(Target(R"({"kind": 3})"), "TypeError", "kind: expected str, got int");
}

TEST(TargetOptions, KeysEndWithTheDevice) {
  const Target t(AttrMap{{"kind", "llvm"}, {"keys", AttrArray{"cpu", "arm_cpu"}}, {"device", "arm_cpu"}});
  EXPECT_EQ(t.keys(), (Strings{"cpu", "arm_cpu"}));
  EXPECT_FALSE(t.attrs().contains("keys"));
  EXPECT_EQ(t.GetAttr<std::string>("device"), "arm_cpu");
  EXPECT_TRUE(Target("opencl -device=mali").HasKey("mali"));
  EXPECT_EQ(Target(t.str()), t);
}

TEST(TargetOptions, FeaturesOfTheUserKeepTheirType) {
  const Target t("llvm -feature.test=true -feature.size=8 -feature.name='true' -feature.bare");
  EXPECT_EQ(t.GetFeature<bool>("test"), true);
  EXPECT_EQ(t.GetFeature<int64_t>("size"), 8);
  EXPECT_EQ(t.GetFeature<std::string>("name"), "true");
  EXPECT_EQ(t.GetFeature<bool>("bare"), true);
  EXPECT_FALSE(t.GetFeature<bool>("other"));
  EXPECT_FALSE(t.HasFeature("other"));
  EXPECT_EQ(Target(t.str()), t) << t.str();
  EXPECT_EQ(Target(t.ToJson()), t);
  const Target over("test -feature.is_test=false");  // what the user says wins over the parser
  EXPECT_FALSE(over.HasFeature("is_test"));
  EXPECT_EQ(Target(over.str()), over);
  EXPECT_EQ(Target("test -feature.is_test=true"), Target("test"));
}

TEST(TargetOptions, AHostCanBeSetAndTakenAway) {
  const Target t(Target("cuda"), Target("llvm -mcpu=x86-64-v3"));
  EXPECT_EQ(t.host(), Target("llvm -mcpu=x86-64-v3"));
  EXPECT_EQ(t.WithHost(Target("c")).host(), Target("c"));
  EXPECT_EQ(t.WithoutHost(), Target("cuda"));
  EXPECT_EQ(Target(t.str()), t);
  EXPECT_ERROR(Target("cuda -host=lvm"), "ValueError", "did you mean 'llvm'?");
  EXPECT_ERROR(Target(R"({"kind":"c","host":{"kind":"c","host":{"kind":"c","host":{"kind":"c","host":{"kind":"c",
                          "host":{"kind":"c","host":{"kind":"c","host":{"kind":"c","host":"c"}}}}}}}})"),
               "ValueError", "nested deeper than 8");
}

TEST(TargetOptions, ACompositeHoldsItsDevices) {
  const Target t(AttrMap{{"kind", "composite"},
                         {"host", "llvm"},
                         {"devices", AttrArray{"llvm", AttrMap{{"kind", "cuda"}, {"arch", "sm_90"}}, Target("c")}}});
  const auto devices = t.GetAttr<std::vector<Target>>("devices");
  EXPECT_EQ(devices->at(1), Target("cuda -arch=sm_90"));
  EXPECT_EQ(Target(t.str()), t) << t.str();
  EXPECT_EQ(Target(t.ToJson()), t);
}

TEST(TargetOptions, TheDeviceTypeMayBeAnother) {
  EXPECT_EQ(Target("llvm -target_device_type=hexagon").device_type(), KP_DEVICE_HEXAGON);
}

TEST(TargetTags, BuildOnOthersAndCanBeOverridden) {
  EXPECT_EQ(Target("options-test/base").tag(), "options-test/base");
  EXPECT_EQ(Target("options-test/derived").tag(), "options-test/derived");
  EXPECT_EQ(Target("options-test/derived"), Target("options_test -mcpu=two -subgroups=true"));
  EXPECT_EQ(Target("options-test/base -mcpu=three").GetAttr<std::string>("mcpu"), "three");
  const Target dict(AttrMap{{"tag", "options-test/base"}, {"mcpu", "four"}});
  EXPECT_EQ(dict.GetAttr<std::string>("mcpu"), "four");
  EXPECT_EQ(dict.GetAttr<int64_t>("warp"), 32);
  EXPECT_EQ(dict.tag(), "options-test/base");
  EXPECT_EQ(Target(dict.ToJson()).tag(), "options-test/base");
  EXPECT_ERROR(Target("nvidia/h1000"), "ValueError", "did you mean 'nvidia/h100'?");
}

TEST(TargetTags, ACycleIsAnErrorThatShowsThePath) {
  EXPECT_ERROR(Target("options-test/loop"), "ValueError",
               "options-test/loop -> options-test/loop2 -> options-test/loop");
}

TEST(TargetTags, AddedOnesAreFoundAndReplacedOnRequest) {
  EXPECT_ERROR(TargetTag::Add("llvm", std::string("c")), "ValueError", "a target kind has that name");
  EXPECT_ERROR(TargetTag::Add("has space", std::string("c")), "ValueError", "lower-case letters");
  TargetTag::Add("options-test/new", AttrMap{{"kind", "c"}, {"num-cores", 2}});
  EXPECT_EQ(Target("options-test/new"), Target("c -num-cores=2"));
  EXPECT_ERROR(TargetTag::Add("options-test/new", std::string("c")), "ValueError", "stands for");
  TargetTag::Add("options-test/new", std::string("c"), true);
  EXPECT_EQ(Target("options-test/new"), Target("c"));
}

TEST(TargetTags, EveryTagParsesAndSurvivesItsText) {
  const Strings tags = TargetTag::List();
  EXPECT_GE(tags.size(), 70U);
  for (const std::string& tag : tags) {
    if (tag.starts_with("options-test/loop")) continue;
    const Target t(tag);
    EXPECT_EQ(Target(t.str()), t) << tag;
    EXPECT_EQ(Target(t.str()).str(), t.str()) << tag;
    EXPECT_EQ(Target(t.ToJson()), t) << tag;
    EXPECT_EQ(t.tag(), tag);
  }
}

TEST(TargetScopes, TheInnermostOfTheThreadIsCurrent) {
  EXPECT_ERROR(Target::Current(), "RuntimeError", "no target is current in this thread");
  const TargetScope outer(Target("cuda"));
  {
    const TargetScope inner(Target("llvm"));
    EXPECT_EQ(Target::Current(), Target("llvm"));
    std::thread([] { EXPECT_FALSE(Target::CurrentOrNone()); }).join();
  }
  EXPECT_EQ(Target::Current(), Target("cuda"));
}

TEST(TargetFromDevice, PrefersTheUsersThenTheDevicesThenTheDefault) {
  const DeviceQuery query = [](KpDLDevice device, std::string_view name) -> AttrValue {
    if (name == "exist") return device.device_id == 1;
    if (name == "compute_version") return "8.6";
    if (name == "max_threads_per_block") return 512;
    return {};
  };
  const Target t = Target::FromDevice({KP_DEVICE_CUDA, 1}, {{"max_num_threads", 128}}, query);
  EXPECT_EQ(t.GetAttr<std::string>("arch"), "sm_86");
  EXPECT_EQ(t.GetAttr<int64_t>("max_num_threads"), 128);        // the user's
  EXPECT_EQ(t.GetAttr<int64_t>("max_threads_per_block"), 512);  // the device's
  EXPECT_EQ(t.GetAttr<int64_t>("thread_warp_size"), 32);        // the default
  EXPECT_EQ(Target(t.str()), t);
  EXPECT_EQ(t.str().find("from_device"), std::string::npos);
  EXPECT_ERROR(Target::FromDevice({KP_DEVICE_CUDA, 2}, {}, query), "RuntimeError", "no device cuda:2");
  EXPECT_ERROR(Target::FromDevice({KP_DEVICE_CUDA, 1}, {{"kind", "llvm"}}, query), "ValueError", "is not for devices");
}

TEST(TargetFromDevice, DescribesThisProcessor) {
  const Target t = Target::FromDevice({KP_DEVICE_CPU, 0});
  EXPECT_EQ(t.kind().name(), "llvm");
  EXPECT_EQ(Target(t.str()), t);
#if defined(__x86_64__)
  EXPECT_TRUE(t.HasFeature("sse2")) << t.str();
#endif
}

}  // namespace
}  // namespace kernpack::sdk
