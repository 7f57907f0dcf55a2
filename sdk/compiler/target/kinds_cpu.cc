// llvm and c: two generators, one device.
#include <kernpack/sdk/target_kind.h>
#include "shared/target_kinds.h"

#include "target/builtin.h"

namespace kernpack::sdk {
namespace {

using Strings = std::vector<std::string>;

std::optional<std::string> PowerOfTwo(const AttrValue& value) {
  const int64_t number = value.As<int64_t>().value_or(0);
  if (number > 0 && (number & (number - 1)) == 0) return std::nullopt;
  return "must be a power of two";
}

// "+aes,+sha" to a list.
AttrValue SplitFeatures(const AttrValue& value) {
  AttrArray out;
  std::string_view rest = *value.If<std::string>();
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    out.emplace_back(item);
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
  }
  return out;
}

TargetKindBuilder& AddProcessor(TargetKindBuilder& builder) {
  return builder.set_default_keys({"cpu"})
      .set_target_parser(ParseProcessor)
      .add_attr_option<std::string>("mtriple",
                                    {.doc = "LLVM's triple of the machine, x86_64-linux-gnu", .from_device = "mtriple"})
      .add_attr_option<std::string>(
          "mcpu", {.doc = "processor, as LLVM calls it: x86-64-v3, znver4, cortex-a72", .from_device = "mcpu"})
      .add_attr_option<Strings>("mattr", {.doc = "processor features beyond or below mcpu's: +aes,-fma",
                                          .from_device = "mattr",
                                          .convert = SplitFeatures})
      .add_attr_option<std::string>("mabi", {.doc = "calling convention, as LLVM calls it"})
      .add_attr_option<std::string>("mfloat-abi",
                                    {.doc = "hard, soft or softfp", .validate = OneOf({"hard", "soft", "softfp"})})
      .add_attr_option<int64_t>("num-cores", {.doc = "cores to divide work among", .validate = AtLeast(1)})
      .add_attr_option<int64_t>("vector-width", {.doc = "bits of a vector to use; the feature vector_width without it",
                                                 .validate = AtLeast(8)})
      .add_attr_option<bool>("fast-math", {.doc = "all of the fast-math options"})
      .add_attr_option<bool>("fast-math-nnan", {.doc = "no value is NaN"})
      .add_attr_option<bool>("fast-math-ninf", {.doc = "no value is infinite"})
      .add_attr_option<bool>("fast-math-nsz", {.doc = "the sign of zero does not matter"})
      .add_attr_option<bool>("fast-math-arcp", {.doc = "x / y may be x * (1 / y)"})
      .add_attr_option<bool>("fast-math-contract", {.doc = "multiply and add may become one operation"})
      .add_attr_option<bool>("fast-math-reassoc", {.doc = "sums may be taken in any order"});
}

}  // namespace

void RegisterCpuKinds() {
  TargetKindBuilder llvm(host::kLlvmKind, KP_DEVICE_CPU);
  AddProcessor(llvm)
      .add_attr_option<int64_t>("opt-level", {.default_value = 3, .doc = "LLVM's", .validate = InRange(0, 3)})
      .add_attr_option<std::string>("jit", {.doc = "orcjit or mcjit", .validate = OneOf({"orcjit", "mcjit"})})
      .add_attr_option<Strings>("cl-opt",
                                {.doc = "LLVM's own options: -name, -name=text, -name:int=4", .validate = CheckClOpts})
      .set_attr<bool>("runs_on_this_machine", true)
      .Register();
  TargetKindBuilder c(host::kCKind, KP_DEVICE_CPU);
  AddProcessor(c)
      .add_attr_option<int64_t>("workspace-byte-alignment", {.doc = "of workspaces", .validate = PowerOfTwo})
      .add_attr_option<int64_t>("constants-byte-alignment", {.doc = "of constants", .validate = PowerOfTwo})
      .Register();
}

}  // namespace kernpack::sdk
