// The kinds and tags that come with the SDK; the registries call these on first use.
#ifndef KERNPACK_SDK_COMPILER_TARGET_BUILTIN_H_
#define KERNPACK_SDK_COMPILER_TARGET_BUILTIN_H_

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

}  // namespace kernpack::sdk

#endif  // KERNPACK_SDK_COMPILER_TARGET_BUILTIN_H_
