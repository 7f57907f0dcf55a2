// The kinds and tags that come with the SDK; the registries call these on first use.
#ifndef KERNPACK_SDK_COMPILER_TARGET_BUILTIN_H_
#define KERNPACK_SDK_COMPILER_TARGET_BUILTIN_H_

#include <kernpack/sdk/target_kind.h>

namespace kernpack::sdk {

void RegisterBuiltInKinds();  // all of these:
void RegisterCpuKinds();      // llvm, c
void RegisterGpuKinds();      // cuda, opencl

// {name, definition}; the list ends with {NULL, NULL}.
struct BuiltInTag {
  const char* name;
  const char* definition;
};
extern const BuiltInTag kNvidiaTags[];
extern const BuiltInTag kX86Tags[];
extern const BuiltInTag kArmTags[];

// The parser of CPU kinds.
// Sorts mattr and gives each entry its sign; derives the features: arch, one for each feature of the processor, and
// vector_width in bits; gives Arm targets the key arm_cpu. ValueError for a processor or feature that does not exist.
void ParseProcessor(TargetSpec& spec);

// LLVM's own command-line options within a target.
// Each entry is -name, -name=value, or -name:type=value with type bool, int, uint or string; what is wrong with the first that
// is not. Whether LLVM knows the name is LLVM's to say.
std::optional<std::string> CheckClOpts(const AttrValue& options);

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_TARGET_BUILTIN_H_
