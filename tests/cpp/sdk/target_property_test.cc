// parse(str(t)) == t for generated targets of every kind; and arbitrary text is a target or a clear error, never a crash.
#include <kernpack/sdk/target.h>

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support.h"

namespace kernpack::sdk {
namespace {

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  int64_t Below(int64_t n) { return std::uniform_int_distribution<int64_t>(0, n - 1)(random_); }

  std::string Text() {
    static const std::string kPieces[] = {"a",  "B",  " ",  "'", "\\",   ",", "=", "-", "[",  "]",   "{",
                                          "\"", "\t", "\n", "0", "true", "é", "/", ".", "--", "x86", "\x01"};
    std::string out;
    for (int64_t i = Below(6); i > 0; --i) out += kPieces[Below(std::size(kPieces))];
    return out;
  }

  AttrValue Value(const OptionType& type, int depth) {
    using Kind = OptionType::Kind;
    switch (type.kind) {
      case Kind::kBool:
        return Below(2) == 1;
      case Kind::kInt:
        return Below(4) == 0 ? INT64_MIN + Below(9) : Below(2000) - 1000;
      case Kind::kFloat:
        return std::ldexp(static_cast<double>(Below(1 << 20) - (1 << 19)), static_cast<int>(Below(80)) - 60);
      case Kind::kString:
        return Text();
      case Kind::kArray: {
        AttrArray items;
        for (int64_t i = Below(4); i > 0; --i) items.push_back(Value(*type.item, depth));
        return items;
      }
      case Kind::kMap: {
        AttrMap items;
        for (int64_t i = Below(4); i > 0; --i) items.insert_or_assign(Text(), Value(*type.item, depth));
        return items;
      }
      case Kind::kTarget:
        break;
    }
    return Generate(depth + 1);
  }

  // Options that any text would not do for.
  AttrValue Special(const std::string& name) {
    static const std::map<std::string, std::vector<AttrValue>> kChoices = {
        {"arch", {"sm_75", "sm_90a", "compute_80", "sm_100f"}},
        {"mcpu", {"x86-64-v3", "znver4", "cortex-a72", "cortex-m55"}},
        {"mattr", {AttrArray{}, AttrArray{"+popcnt"}, AttrArray{"-neon", "+crc"}}},
        {"mtriple", {"powerpc64le-linux-gnu"}},
        {"mfloat-abi", {"hard", "soft"}},
        {"jit", {"orcjit"}},
        {"cl-opt", {AttrArray{"-a", "-b:int=3", "-c=it's, so"}}},
        {"target_device_type", {"hexagon", "cpu"}},
        {"workspace-byte-alignment", {16}},
        {"constants-byte-alignment", {1}},
        {"opt-level", {0, 3}},
    };
    const auto found = kChoices.find(name);
    if (found == kChoices.end()) return {};
    return found->second[static_cast<size_t>(Below(static_cast<int64_t>(found->second.size())))];
  }

  Target Generate(int depth) {
    const char* kKinds[] = {"llvm", "c", "cuda", "opencl", "test", "composite"};
    for (;;) {
      const TargetKind& kind = TargetKind::Get(kKinds[Below(6)]);
      AttrMap config{{"kind", kind.name()}};
      for (const TargetOption& option : kind.options()) {
        const bool holds_targets = option.type.kind == OptionType::Kind::kTarget ||
                                   (option.type.item && option.type.item->kind == OptionType::Kind::kTarget);
        if (option.name == "from_device" || Below(3) != 0 || (holds_targets && depth > 1)) continue;
        AttrValue value = Special(option.name);
        if (value.is_none()) value = Value(option.type, depth);
        if (value.As<int64_t>() && option.traits.validate && option.traits.validate(value)) value = 1 + Below(4096);
        config.insert_or_assign(option.name, value);
      }
      if (Below(3) == 0)
        config.insert_or_assign("feature.f" + std::to_string(Below(3)), Value({OptionType::Kind::kString, {}}, depth));
      if (Below(3) == 0) config.insert_or_assign("feature.g", Value({OptionType::Kind::kFloat, {}}, depth));
      try {
        return Target(config);
      } catch (const Error&) {
        // A processor of another architecture than the triple, and the like: the next draw.
      }
    }
  }

 private:
  std::mt19937 random_;
};

TEST(TargetProperties, TextGivesTheTargetBack) {
  Generator generator(20);
  for (int i = 0; i < 200; ++i) {
    const Target t = generator.Generate(0);
    ASSERT_EQ(Target(t.str()), t) << t.str();
    ASSERT_EQ(Target(t.str()).attrs(), t.attrs()) << t.str();
    ASSERT_EQ(Target(t.str()).keys(), t.keys()) << t.str();
    ASSERT_EQ(Target(t.str()).features(), t.features()) << t.str();
    ASSERT_EQ(Target(t.ToConfig()), t) << t.str();
    const Target full(t.FullText());
    ASSERT_EQ(full, t) << t.FullText();
    ASSERT_EQ(full.attrs(), t.attrs()) << t.FullText();
    ASSERT_EQ(full.keys(), t.keys()) << t.FullText();
    ASSERT_EQ(full.FullText(), t.FullText());
  }
}

TEST(TargetProperties, AnyTextIsATargetOrAnError) {
  std::mt19937 random(3);
  const std::string pieces[] = {"cuda", "llvm",  " ",     "-", "--", "arch",      "=",    "sm_90",
                                "'",    "\\",    ",",     "{", "}",  "\"kind\"",  ":",    "nvidia/h100",
                                "host", "mattr", "+avx2", "[", "]",  "feature.x", "\xff", "tag"};
  int good = 0;
  for (int i = 0; i < 800; ++i) {
    std::string text;
    for (int n = static_cast<int>(random() % 9); n >= 0; --n) text += pieces[random() % std::size(pieces)];
    try {
      const Target t(text);
      ++good;
      EXPECT_EQ(Target(t.str()), t) << text;
    } catch (const Error& error) {
      EXPECT_TRUE(error.is("ValueError") || error.is("TypeError")) << text << ": " << error.what();
    }
  }
  EXPECT_GT(good, 0);
}

}  // namespace
}  // namespace kernpack::sdk
